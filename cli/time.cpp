#include <string>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "experiments/store/experiment_folder.h"
#include "tables/result_tables.h"

namespace che {
namespace {

struct TimeOptions {
  ReadRuns runs;
  PrintedOutput output;
  std::string base;  // Empty: chosen.
};

int print_times(const TimeOptions& options) {
  const StepTimes times = step_times(open_runs(options.runs.folder), options.runs.choice());
  options.output.write(time_table(times, options.base, options.output.format, options.output.style()));
  return 0;
}

}  // namespace

void add_time_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "time", "Print what a training step and a test batch of each encoding took, as ratios to one of them");
  const auto options = set_action(*command, action, print_times);
  command->footer("For folders such as that of `che run configs/time_cost.yaml`.");
  add_read_runs(*command, options->runs);
  add_printed_output(*command, options->output);
  command->add_option("--base", options->base,
                      "encoding to compare with, as tables label it (default: dape_kerple where it is there, "
                      "else the first row)");
}

}  // namespace che
