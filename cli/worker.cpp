#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <oneapi/tbb/global_control.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"
#include "experiments/job.h"
#include "experiments/scheduler.h"
#include "experiments/stop_signal.h"

namespace che {
namespace {

void record_failure(const std::vector<RunFolder>& runs, const std::string& reason) {
  for (const RunFolder& run : runs) {
    RunStatus status = run.status();
    if (status.state == "finished") continue;
    status.state = "failed";
    status.error = reason;
    status.updated = current_utc_time();
    run.write_status(status);
  }
}

int work(const std::vector<std::string>& folders) {
  // A worker does not outlive the scheduler that shows its progress.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  catch_stop_signals();
  std::vector<RunFolder> runs;
  for (const std::string& folder : folders) runs.push_back(RunFolder::open(folder));
  const auto threads = static_cast<int>(runs.front().config().execution.threads);
  at::set_num_threads(threads);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  const auto tell = [](const Progress& progress) {
    fmt::print("{}", to_json_line(progress));
    std::fflush(stdout);
  };
  try {
    switch (work_on_job(runs, tell, stop_signal())) {
      case JobOutcome::kDone:
        return 0;
      case JobOutcome::kFailed:
        return 1;
      case JobOutcome::kInterrupted:
        return kExitAgain;
    }
  } catch (const std::exception& error) {
    // LibTorch's messages carry a backtrace; the first line says what happened.
    const std::string message = error.what();
    record_failure(runs, message.substr(0, message.find('\n')));
  }
  return 1;
}

}  // namespace

void add_worker_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "worker", "Work on one job: runs that differ only in seed and learning rate (what `run` starts)");
  auto folders = std::make_shared<std::vector<std::string>>();
  command->add_option("RUN_FOLDER", *folders, "Folders results/<experiment>/runs/<run id>")->required();
  command->callback([folders, &action] { action = [folders] { return work(*folders); }; });
}

}  // namespace che
