#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/schedule/worker_process.h"
#include "experiments/store/run_folder.h"

namespace che {

// How a job ended.
enum class JobEnd : std::uint8_t {
  kDone,
  kFailed,       // Some run of it; the others are done.
  kInterrupted,  // At a checkpoint.
  kUnwritable,   // Its results cannot be read or stored, as no other job's can.
};

// What became of a job, with one line per run for people.
struct JobReport {
  JobEnd end = JobEnd::kDone;
  std::vector<std::string> lines;
};

// Why a process ended that did not end as it should, from its status as waitpid gives it; empty for an
// orderly end.
std::string exit_reason(int exit_status);

// Reads what became of the runs of a job whose worker ended with `exit_status`, and marks those failed that
// it could not mark itself. With a request the worker evaluated a stored model only, and marks nothing.
JobReport report_job(const std::vector<RunFolder>& job, int exit_status,
                     const std::optional<EvaluationRequest>& evaluation);

struct Schedule {
  std::int64_t workers = 1;                     // Worker processes at a time.
  std::int64_t max_jobs = 0;                    // Jobs to start at most; 0 for all.
  std::optional<EvaluationRequest> evaluation;  // Only this, without training; one run per job.
};

// Works on `jobs` in order in worker processes (`program` with the command `worker`) and shows their
// progress on standard output. A job that fails or whose process dies is noted in its runs' status and does
// not stop the others; a results folder that cannot be written does. Stop signals are passed
// on to the workers, which then write a checkpoint and end.
// Each worker sees one GPU where its runs go to any, or to any of execution.devices. Throws Error where they
// ask for a GPU that is not there. Returns 0 when every run is done, 1 when some failed, kExitAgain when
// interrupted or when jobs are left.
int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
             const std::filesystem::path& program);

}  // namespace che
