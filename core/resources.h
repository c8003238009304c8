#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace che {

// The part of the machine that this process may use.
struct Resources {
  std::int64_t cores = 1;
  double memory_bytes = 0;
  std::vector<std::string> gpus = {};  // As CUDA_VISIBLE_DEVICES names them.
};

// Cores are those of the process' affinity mask, which taskset, Slurm and container runtimes set. They are at
// most the CPU time per second that its control groups (version 1 or 2) allow, rounded up. Memory: the
// machine's, at most what its control groups allow. GPUs: those that the environment variable
// CUDA_VISIBLE_DEVICES names, or without it NVIDIA's whose device files are there; whether their driver works
// is not looked at. `root` is where /dev, /proc/self/cgroup and /sys/fs/cgroup are looked for; limits that
// cannot be read do not count.
Resources available_resources(const std::filesystem::path& root = "/");

// Where the program's CUDA kernels are, if it has any: a library beside it.
std::filesystem::path cuda_kernels_file();

}  // namespace che
