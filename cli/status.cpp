#include "experiments/schedule/status.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/text.h"
#include "experiments/schedule/slurm.h"
#include "tables/sweep_tables.h"

namespace che {
namespace {

struct StatusOptions {
  ReadRuns runs;
  PrintedOutput output;
  bool watch = false;
};

int show_status(const StatusOptions& options) {
  const RunChoice choice = options.runs.choice();
  const std::string& folder = options.runs.folder;
  if (options.output.format != "terminal") {
    const std::string name = std::filesystem::weakly_canonical(folder).filename().string();
    options.output.write(status_table(experiment_status(folder, choice), name));
    return 0;
  }
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  while (true) {
    const ExperimentStatus status = experiment_status(folder, choice);
    if (options.watch && terminal) fmt::print("\x1b[H\x1b[2J");
    std::string text = fmt::format("{}: {}", one_line(folder, kWholeText), describe(status));
    for (const std::string& line : slurm_status(folder)) text += line + "\n";
    options.output.write(text);
    if (std::fflush(stdout) != 0) return 0;  // Nobody reads it any more, which main() reports.
    if (!options.watch || !status.is_worked_on) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(terminal ? 2 : 30));
  }
}

}  // namespace

void add_status_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("status", "Show the state of an experiment (reads its files only)");
  const auto options = set_action(*command, action, show_status);
  command->footer(
      "On a terminal it shows the counts, and what there is to say of runs that are neither finished nor "
      "waiting; the other formats have one row per run.");
  add_read_runs(*command, options->runs);
  add_printed_output(*command, options->output);
  CLI::Option* const watch = command->add_flag(
      "--watch", options->watch,
      "show it again, every 2 seconds on a terminal and every 30 elsewhere, until no process works on it");
  watch->excludes("--format")->excludes("--output");
}

}  // namespace che
