#include "core/resources.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/files.h"
#include "core/number_text.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct Limits {
  double cores = kUnlimited;
  double memory_bytes = kUnlimited;
};

std::int64_t affinity_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
  return std::max<std::int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));  // More processors than the mask has bits.
}

double physical_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// The numbers at the beginning of a file; "max", or a file that is not there, gives none.
std::vector<double> read_numbers(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<double> numbers;
  for (double number = 0; stream >> number;) numbers.push_back(number);
  return numbers;
}

// `fraction` of the time of one core is allowed in each `period`, in any unit; negative for no limit.
void limit_cores(Limits& limits, double fraction, double period) {
  if (fraction > 0 && period > 0) limits.cores = std::min(limits.cores, fraction / period);
}

void limit_memory(Limits& limits, const std::vector<double>& bytes) {
  if (!bytes.empty() && bytes[0] > 0) limits.memory_bytes = std::min(limits.memory_bytes, bytes[0]);
}

void apply_version_2(Limits& limits, const fs::path& group) {
  const std::vector<double> cpu = read_numbers(group / "cpu.max");
  if (cpu.size() == 2) limit_cores(limits, cpu[0], cpu[1]);
  limit_memory(limits, read_numbers(group / "memory.max"));
}

void apply_version_1(Limits& limits, const fs::path& group) {
  const std::vector<double> quota = read_numbers(group / "cpu.cfs_quota_us");
  const std::vector<double> period = read_numbers(group / "cpu.cfs_period_us");
  if (!quota.empty() && !period.empty()) limit_cores(limits, quota[0], period[0]);
  limit_memory(limits, read_numbers(group / "memory.limit_in_bytes"));
}

// The limits of the group `path` below `mount` and of those above it. Inside a container `path` may be the
// host's and not be there; the mount is then the container's group.
template <class Apply>
void apply_upwards(Limits& limits, const fs::path& mount, fs::path path, Apply apply) {
  while (path.has_relative_path()) {
    apply(limits, mount / path.relative_path());
    path = path.parent_path();
  }
  apply(limits, mount);
}

Limits group_limits(const fs::path& root) {
  Limits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  // Lines "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (controllers.empty()) {
      apply_upwards(limits, mounts, path, apply_version_2);
    } else {
      apply_upwards(limits, mounts / controllers, path, apply_version_1);
      if (controllers.starts_with("cpu,")) apply_upwards(limits, mounts / "cpu", path, apply_version_1);
    }
  }
  return limits;
}

// Whether CUDA would take it for a GPU: a number, or the beginning of a GPU's or of a part's UUID.
bool names_gpu(const std::string& word) {
  return !word.empty() && (std::isdigit(static_cast<unsigned char>(word.front())) != 0 ||
                           word.starts_with("GPU-") || word.starts_with("MIG-"));
}

// Whether it is the file of a GPU: /dev/nvidia0, /dev/nvidia1, ..., of which a container may have some.
bool is_gpu_file(const fs::path& file) {
  constexpr std::string_view kName = "nvidia";
  const std::string name = file.filename().string();
  return name.starts_with(kName) && parse_integer(name.substr(kName.size()));
}

std::vector<std::string> visible_gpus(const fs::path& root) {
  std::vector<std::string> gpus;
  if (const char* const named = std::getenv("CUDA_VISIBLE_DEVICES"); named != nullptr) {
    // CUDA takes the words up to the first that names none.
    std::istringstream words(named);
    for (std::string word; std::getline(words, word, ',') && names_gpu(word);) gpus.push_back(word);
    return gpus;
  }
  // CUDA counts those that are there from 0.
  std::error_code error;
  for (const fs::path& file : entries_of(root / "dev", error)) {
    if (is_gpu_file(file)) gpus.push_back(std::to_string(gpus.size()));
  }
  // Under Windows' Linux (WSL 2) one file stands for all GPUs, and NVIDIA's driver for Windows brings the
  // other.
  if (gpus.empty() && fs::exists(root / "dev/dxg", error) &&
      fs::exists(root / "usr/lib/wsl/lib/libcuda.so.1", error)) {
    gpus.emplace_back("0");
  }
  return gpus;
}

}  // namespace

fs::path cuda_kernels_file() { return fs::read_symlink("/proc/self/exe").parent_path() / "libche_cuda.so"; }

Resources available_resources(const fs::path& root) {
  const Limits limits = group_limits(root);
  const double cores = std::min(static_cast<double>(affinity_cores()), std::ceil(limits.cores));
  return {.cores = std::max<std::int64_t>(1, static_cast<std::int64_t>(cores)),
          .memory_bytes = std::min(physical_memory(), limits.memory_bytes),
          .gpus = visible_gpus(root)};
}

}  // namespace che
