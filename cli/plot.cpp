#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "experiments/result_table.h"
#include "plots/accuracy_over_length.h"

namespace che {
namespace {

struct PlotOptions {
  std::string folder;
  std::string output;
};

int plot(const PlotOptions& options) {
  const std::filesystem::path output = options.output.empty() ? options.folder : options.output;
  const ResultTable table = make_table(open_runs(options.folder));
  warn_of_damage(table);
  plot_accuracy_over_length(table, output);
  fmt::print("{}\n{}\n", (output / "accuracy.svg").string(), (output / "accuracy.png").string());
  return 0;
}

}  // namespace

void add_plot_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App* const command =
      app.add_subcommand("plot", "Draw accuracy over length from the results of an experiment");
  command->add_option("folder", options->folder, "results folder, as written by che run")->required();
  command->add_option("--output", options->output,
                      "folder for accuracy.svg and accuracy.png; the results folder unless given");
  command->callback([options, &action] { action = [options] { return plot(*options); }; });
}

}  // namespace che
