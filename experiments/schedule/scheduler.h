#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/schedule/submission.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/store/run_folder.h"

namespace che {

enum class JobEnd : std::uint8_t {
  kDone,
  kFailed,       // Some run failed; the others are done.
  kInterrupted,  // At a checkpoint.
  kUnwritable,   // Its results cannot be read or stored; those of other jobs cannot, either.
};

struct JobReport {
  JobEnd end = JobEnd::kDone;
  std::vector<std::string> lines;  // One for each run.
};

// Says why a process failed, from its status as waitpid gives it. Empty for an orderly end.
std::string exit_reason(int exit_status);

// Reports on the runs of a job whose worker ended with `exit_status`, and marks those failed that it could
// not mark itself. With a request the worker only evaluated a stored model, and nothing is marked.
JobReport report_job(const std::vector<RunFolder>& job, int exit_status,
                     const std::optional<EvaluationRequest>& evaluation);

struct Schedule {
  std::int64_t workers = 1;   // Worker processes at a time.
  std::int64_t max_jobs = 0;  // Jobs to start at most; 0 for all.
  // If set, only this is done, without training; a job has one run then.
  std::optional<EvaluationRequest> evaluation = {};
  PassedSteps to_begin_again = {};  // begin_again() is called for these runs as their jobs start.
};

// Works on `jobs` in order in worker processes (`program` with the command `worker`) and shows their progress
// on standard output. A job that fails or whose process dies is noted in its runs' status and stops no other
// job. A results folder that cannot be written stops them all. Stop signals are passed on to the workers,
// which then write a checkpoint and end. A worker sees one GPU, unless its runs name a GPU by number.
//
// Throws Error where the runs want a GPU that is not there. Returns 0 when every run is done, 1 when some
// failed, and kExitAgain when interrupted or when jobs are left.
int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
             const std::filesystem::path& program);

}  // namespace che
