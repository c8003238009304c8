#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"
#include "experiments/job.h"
#include "experiments/reevaluation.h"
#include "experiments/scheduler.h"
#include "experiments/stop_signal.h"
#include "experiments/thread_limit.h"

namespace che {
namespace {

// A worker left over from a killed scheduler finishes its step and writes its checkpoint meanwhile.
constexpr std::chrono::seconds kLockPatience{60};

struct WorkerOptions {
  std::vector<std::string> folders;
  std::string lengths;  // Of what to evaluate without training.
  std::int64_t samples = 0;
  pid_t parent = 0;  // The scheduler that shows its progress; 0 for none.
};

int evaluate(const RunFolder& run, const WorkerOptions& options, const ProgressSink& tell) {
  const auto lengths = parse_integer_range(options.lengths);
  if (!lengths) throw Error(fmt::format("--lengths: allowed: {}", kIntegerRangeForms));
  const EvaluationRequest request{*lengths, options.samples};
  try {
    const JobOutcome outcome =
        evaluate_stored_model(run, request.applied_to(run.config().evaluation), tell, stop_signal());
    return outcome == JobOutcome::kDone ? 0 : kExitAgain;
  } catch (const std::exception& error) {
    const std::string message = error.what();
    tell({.job = run.id(), .phase = "warning", .text = message.substr(0, message.find('\n'))});
  }
  return 1;
}

int work(const WorkerOptions& options) {
  catch_stop_signals();
  if (options.parent != 0) {
    // A worker does not outlive its scheduler, nor one that ended before it could ask for that.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != options.parent) return kExitAgain;
  }
  // Without a reader of its progress a worker still reaches its checkpoint.
  std::signal(SIGPIPE, SIG_IGN);
  if (!options.lengths.empty() && options.folders.size() != 1) {
    throw Error("--lengths: evaluates one run; name one folder");
  }
  std::vector<RunFolder> runs;
  for (const std::string& folder : options.folders) runs.push_back(RunFolder::open(folder));
  const ThreadLimit limit(runs.front().config().execution.threads);
  const auto tell = [](const Progress& progress) {
    std::fputs(to_json_line(progress).c_str(), stdout);
    std::fflush(stdout);
  };
  if (!options.lengths.empty()) return evaluate(runs.front(), options, tell);
  try {
    switch (work_on_job(runs, tell, stop_signal(), kLockPatience)) {
      case JobOutcome::kDone:
        return 0;
      case JobOutcome::kFailed:
        return 1;
      case JobOutcome::kInterrupted:
        return kExitAgain;
    }
  } catch (const Error& error) {
    if (error.fault() == Fault::kUsage) throw;  // Not the runs' fault: another process holds them, say.
    for (const RunFolder& run : runs) run.mark_failed(error.what());
  } catch (const std::exception& error) {
    // LibTorch's messages carry a backtrace; the first line says what happened.
    const std::string message = error.what();
    for (const RunFolder& run : runs) run.mark_failed(message.substr(0, message.find('\n')));
  }
  return 1;
}

}  // namespace

void add_worker_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "worker", "Work on one job: runs that differ only in seed and learning rate (what `run` starts)");
  const auto options = std::make_shared<WorkerOptions>();
  command->add_option("RUN_FOLDER", options->folders, "Folders results/<experiment>/runs/<run id>")
      ->required();
  CLI::Option* const lengths = command->add_option(
      "--lengths", options->lengths, "Evaluate the stored model of one run at these alone, first:last:step");
  CLI::Option* const samples =
      command->add_option("--samples", options->samples, "Samples a length for --lengths");
  lengths->needs(samples);
  samples->needs(lengths);
  command->add_option("--parent", options->parent, "Process that starts it and without which it is to end");
  command->callback([options, &action] { action = [options] { return work(*options); }; });
}

}  // namespace che
