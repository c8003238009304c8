#include "experiments/scheduling/worker_count.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/counted.h"

namespace che {
namespace {

constexpr double kWorkerBytes =
    2 * 0x1p30;  // Next to evaluation's activations: LibTorch, parameters, training.

std::int64_t max_threads(const std::vector<RunConfig>& runs) {
  std::int64_t threads = 1;
  for (const RunConfig& run : runs) threads = std::max(threads, run.execution.threads);
  return threads;
}

}  // namespace

std::int64_t default_workers(const std::vector<RunConfig>& runs, const Resources& resources) {
  double max_gib = 0;
  for (const RunConfig& run : runs) max_gib = std::max(max_gib, run.execution.memory_gib);
  const std::int64_t by_cores = resources.cores / max_threads(runs);
  const auto by_memory =
      static_cast<std::int64_t>(resources.memory_bytes / (max_gib * 0x1p30 + kWorkerBytes));
  return std::max<std::int64_t>(1, std::min(by_cores, by_memory));
}

std::int64_t workers_for(const std::vector<RunConfig>& runs, std::int64_t asked) {
  return asked > 0 ? asked : default_workers(runs);
}

std::int64_t usable_threads(std::int64_t threads, const Resources& resources) {
  return std::clamp<std::int64_t>(threads, 1, resources.cores);
}

std::optional<std::string> threads_warning(const std::vector<RunConfig>& runs, const Resources& resources) {
  const std::int64_t asked = max_threads(runs);
  const std::int64_t used = usable_threads(asked, resources);
  if (used == asked) return std::nullopt;
  return fmt::format("execution.threads={}: {} available here; each worker computes with {}", asked,
                     counted(resources.cores, "core") + (resources.cores == 1 ? " is" : " are"),
                     counted(used, "thread"));
}

}  // namespace che
