#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/integer_range.h"
#include "experiments/results_store.h"

namespace che {

// Exit code of a process that stopped at a checkpoint because it was asked to: "again".
inline constexpr int kExitAgain = 75;

// Test lengths and samples that `che evaluate` asks of stored models.
struct EvaluationRequest {
  IntegerRange lengths;
  std::int64_t samples = 0;

  // `config` with these in the place of its own.
  EvaluationConfig applied_to(EvaluationConfig config) const;
};

struct Schedule {
  std::int64_t workers = 1;                     // Worker processes side by side.
  std::int64_t max_jobs = 0;                    // Jobs to start at most; 0 for all.
  std::optional<EvaluationRequest> evaluation;  // Only this, without training; one run a job.
};

// Works on `jobs` in order in worker processes (`program` with the command `worker`) and shows their
// progress on standard output. A job that fails or whose process dies is noted in its runs' status and does
// not stop the others; a results folder that cannot be written does. SIGINT, SIGTERM and SIGUSR1 are passed
// on to the workers, which then checkpoint and end.
// Returns 0 when every run is done, 1 when some failed, kExitAgain when interrupted or when jobs are left.
int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
             const std::filesystem::path& program);

// As many workers as cores and physical memory serve if each works on the most demanding of `runs`.
std::int64_t default_workers(const std::vector<RunConfig>& runs);

}  // namespace che
