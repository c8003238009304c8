#include "experiments/learn/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/learn/job.h"
#include "experiments/learn/limits.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/worker_process.h"

namespace che {
namespace {

// In this time, a worker whose scheduler was killed finishes its step and writes its checkpoint.
constexpr std::chrono::seconds kLockPatience{60};

// Lets the end of process `parent` stop this one from now on. Returns false if it has ended already.
bool follow_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return getppid() == parent;
}

void report(const Progress& progress) { print_progress(to_json_line(progress)); }

int exit_code(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kDone:
      return 0;
    case JobOutcome::kFailed:
      return 1;
    case JobOutcome::kInterrupted:
      return kExitAgain;
  }
  return 1;
}

int train(const std::vector<RunFolder>& runs) {
  try {
    return exit_code(work_on_job(runs, report, stop_signal(), kLockPatience));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage)
      throw;  // Not the runs' fault: another process holds them, for example.
    for (const RunFolder& run : runs) run.mark_failed(error.what());
  } catch (const std::exception& error) {
    for (const RunFolder& run : runs) run.mark_failed(failure_text(error));
  }
  return 1;
}

int evaluate(const RunFolder& run, const EvaluationRequest& request) {
  try {
    return exit_code(
        evaluate_stored_model(run, request.applied_to(run.config()), report, stop_signal(), kLockPatience));
  } catch (const std::exception& error) {
    report(warning_about(run.id(), failure_text(error)));
  }
  return 1;
}

}  // namespace

int run_worker(const WorkerTask& task) {
  catch_stop_signals();
  if (task.parent != 0 && !follow_parent(task.parent)) return kExitAgain;
  // Without a reader of its progress a worker still reaches its checkpoint.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<RunFolder> runs;
  for (const std::string& folder : task.folders) runs.push_back(RunFolder::open(folder));
  const RunConfig& config = runs.front().config();
  // A scheduler warns for all its workers.
  if (const auto warning = threads_warning({config}); warning && task.parent == 0) print_warning(*warning);
  const ThreadLimit limit(config.execution.threads);
  return task.evaluation ? evaluate(runs.front(), *task.evaluation) : train(runs);
}

}  // namespace che
