#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "cli/commands.h"
#include "core/text.h"
#include "experiments/cluster/slurm_status.h"
#include "experiments/scheduling/experiment_status.h"

namespace che {
namespace {

struct StatusOptions {
  std::string folder;
  bool watch = false;
};

int show_status(const StatusOptions& options) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  while (true) {
    const ExperimentStatus status = experiment_status(options.folder);
    if (options.watch && terminal) fmt::print("\x1b[H\x1b[2J");
    fmt::print("{}: {}", one_line(options.folder, kWholeText), describe(status));
    for (const std::string& line : slurm_status(options.folder)) fmt::print("{}\n", line);
    if (std::fflush(stdout) != 0) return 0;  // Nobody reads it any more, which main() reports.
    if (!options.watch || !status.is_worked_on) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(terminal ? 2 : 30));
  }
}

}  // namespace

void add_status_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* const command =
      app.add_subcommand("status", "Show the state of an experiment (reads its files only)");
  command->add_option("EXPERIMENT_DIR", options->folder, "folder that `che run` wrote")->required();
  command->add_flag(
      "--watch", options->watch,
      "show it again, every 2 seconds on a terminal and every 30 elsewhere, until no process works on it");
  command->callback([options, &action] { action = [options] { return show_status(*options); }; });
}

}  // namespace che
