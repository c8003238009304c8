#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Exit code of a process that stopped at a checkpoint because it was asked to: "again".
inline constexpr int kExitAgain = 75;

// Works on `jobs` with at most `workers` worker processes side by side (`program` with the command
// `worker`), in order, and shows their progress on standard output. A job that fails or whose
// process dies is noted in its runs' status and does not stop the others. SIGINT, SIGTERM and
// SIGUSR1 are passed on to the workers, which then checkpoint and end.
// Returns 0 when every run is done, 1 when some failed, kExitAgain when interrupted.
int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, std::int64_t workers,
             const std::filesystem::path& program);

}  // namespace che
