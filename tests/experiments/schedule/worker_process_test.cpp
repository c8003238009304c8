#include "experiments/schedule/worker_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// What a worker on `gpu` sees, where this process sees the GPUs 3 and 7.
std::string visible_to_worker(const std::optional<WorkerGpu>& gpu) {
  const ScratchFolder scratch;
  const std::filesystem::path program = scratch.path() / "worker";
  write_file_atomically(program, "#!/bin/sh\necho \"$CUDA_VISIBLE_DEVICES\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::vector<RunFolder> job = {
      RunFolder::create(scratch.path(), made_up_config("even_pairs", "rope"))};
  ::setenv("CUDA_VISIBLE_DEVICES", "3,7", 1);
  WorkerProcess worker(program, {.folders = {job.front().path().string()}, .evaluation = {}, .parent = 1},
                       job, gpu);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  std::string lines;
  while (worker.read_lines([&](std::string_view line) { lines += std::string(line) + "\n"; })) {
  }
  EXPECT_EQ(worker.wait(), 0);
  return lines;
}

TEST(WorkerProcess, SeesItsGpuAlone) {
  EXPECT_EQ(visible_to_worker(WorkerGpu{"7", true}), "7\n");
  EXPECT_EQ(visible_to_worker(WorkerGpu{"3", true}), "3\n");
}

// The run names one of them by number.
TEST(WorkerProcess, SeesAllGpusWhereTheRunNamesItsOwn) {
  EXPECT_EQ(visible_to_worker(WorkerGpu{"7", false}), "3,7\n");
  EXPECT_EQ(visible_to_worker(std::nullopt), "3,7\n");
}

}  // namespace
}  // namespace che
