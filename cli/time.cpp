#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "experiments/store/experiment_folder.h"
#include "tables/time_table.h"

namespace che {
namespace {

struct TimeOptions {
  std::string folder;
  std::string base = "dape_kerple";
};

int print_times(const TimeOptions& options) {
  fmt::print("{}", time_table(step_times(open_runs(options.folder)), options.base));
  return 0;
}

}  // namespace

void add_time_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<TimeOptions>();
  CLI::App* const command = app.add_subcommand(
      "time", "Print what a training step and a test batch of each encoding took, as ratios to one of them");
  command->add_option("EXPERIMENT_DIR", options->folder, "folder that `che run configs/time_cost.yaml` wrote")
      ->required();
  command->add_option("--base", options->base, "encoding to compare with, as tables label it")
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return print_times(*options); }; });
}

}  // namespace che
