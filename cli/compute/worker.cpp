#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "core/error.h"
#include "core/process.h"
#include "experiments/learn/job.h"
#include "experiments/learn/limits.h"
#include "experiments/plan/evaluation_settings.h"
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

// Does `task` in this process and reports its progress on standard output, one line of to_json_line() each.
// Returns the exit code: 0 when it is done, 1 when a run failed (its status, or a warning, says why), and
// kExitAgain when it was asked to stop or its scheduler is gone. Throws Error (usage) for folders that are no
// job, and for runs that another process holds longer than an orphaned worker would; (runtime) for what stops
// all runs.
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

struct WorkerOptions {
  WorkerTask task;
  bool evaluate = false;
  std::string lengths;
  std::string evaluation_settings;
  EvaluationRequest request;
};

int work(const WorkerOptions& options) {
  WorkerTask task = options.task;
  if (options.evaluate) {
    if (task.folders.size() != 1) throw Error("--evaluate: evaluates one run; name one folder");
    task.evaluation = options.request;
    if (!options.lengths.empty()) {
      task.evaluation->lengths = parse_integer_range(options.lengths);
      if (!task.evaluation->lengths) throw Error(fmt::format("--lengths: allowed: {}", kIntegerRangeForms));
    }
    if (!options.evaluation_settings.empty()) {
      task.evaluation->evaluation_settings = parse_evaluation_settings(options.evaluation_settings);
      if (!task.evaluation->evaluation_settings) {
        throw Error("--evaluation-settings: allowed: NAME=VALUE;NAME=VALUE, sorted by name");
      }
    }
  }
  return run_worker(task);
}

}  // namespace

void fill_worker_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, work);
  command.add_option("RUN_DIR", options->task.folders, "folders EXPERIMENT_DIR/runs/<run id>")->required();
  CLI::Option* const evaluate =
      command.add_flag("--evaluate", options->evaluate, "only evaluate the stored model of one run");
  command.add_option("--lengths", options->lengths, "at these, first:last:step")->needs(evaluate);
  command.add_option("--samples", options->request.samples, "with so many samples per length")
      ->needs(evaluate);
  command.add_option("--seed", options->request.seed, "on samples of this seed")->needs(evaluate);
  command
      .add_option("--evaluation-settings", options->evaluation_settings,
                  "with these settings of its encoding, NAME=VALUE;NAME=VALUE")
      ->needs(evaluate);
  command.add_option("--device", options->request.device, "on this device")->needs(evaluate);
  command.add_option("--parent", options->task.parent, "process that starts it; when that ends, it stops");
}

}  // namespace che
