#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/scheduling/worker_task.h"
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

}  // namespace che
