#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/scheduling/observed_run.h"
#include "experiments/training/cost_estimate.h"

namespace che {

// What is left to do of a run, and what it would take.
struct RunEstimate {
  std::int64_t parameters = 0;
  RunNeeds needs;
  TimeEstimate seconds;    // Zero where nothing is left, and where steps of it cannot be measured:
  std::string unmeasured;  // why; empty otherwise.
};

// The same of a sweep.
struct WorkEstimate {
  std::vector<RunEstimate> runs;
  std::size_t complete = 0;
  Operations left;
  TimeEstimate seconds;        // Of one worker, for the runs that were measured.
  std::size_t unmeasured = 0;  // Runs.
};

// Estimates what `runs` stored below `experiment`, or not yet there, would take on this machine. A run whose
// model does not fit in memory is not measured. Writes nothing.
WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment);

}  // namespace che
