#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/schedule/status.h"
#include "experiments/training/cost_estimate.h"
#include "experiments/training/model_factory.h"

namespace che {

// What is left to do of a run, and what it would take.
struct RunEstimate {
  std::int64_t parameters = 0;
  RunNeeds needs;
  TimeRange seconds;       // Zero where nothing is left, and where steps of it cannot be measured:
  std::string unmeasured;  // why; empty otherwise.
};

// The same of a sweep.
struct WorkEstimate {
  std::vector<RunEstimate> runs;
  std::size_t complete = 0;
  Operations left;
  TimeRange seconds;                                // Of one worker, for the runs that were measured,
  std::map<std::string, TimeRange> by_device = {};  // and of one device of each kind, by its description.
  std::size_t unmeasured = 0;                       // Runs.
};

// Estimates what `runs` stored below `experiment`, or not yet there, would take on this machine. A run whose
// model does not fit in memory is not measured. Writes nothing.
WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment);
// The same on `device` with the fused kernels, in place of what the runs' `execution` asks for.
WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                           const ComputingDevice& device);

// What runs that may go to GPUs take there, in one line: the time of one device of each kind and of as many
// as `visible` has for them, or that none was measured. Empty where no run may.
std::string gpu_time_text(const std::vector<RunConfig>& runs, const WorkEstimate& work,
                          const std::vector<std::string>& visible);

}  // namespace che
