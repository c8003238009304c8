#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "core/counted.h"
#include "experiments/result_table.h"
#include "experiments/sweep.h"

namespace che {
namespace {

struct CheckOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::vector<std::string> only;
  bool print = false;
  bool name = false;
};

int check(const CheckOptions& options) {
  // A name is what a script asks for, before it runs the sweep.
  const WarningSink warn = options.name ? [](const std::string&) {} : print_warning;
  const Sweep sweep = read_sweep(options.config, options.overrides, options.only, warn);
  if (options.name) {
    fmt::print("{}\n", sweep.name);
    return 0;
  }
  if (options.print) {
    // One YAML document a run, each as a results folder stores it.
    for (const RunConfig& run : sweep.runs) fmt::print("--- # {}\n{}", run_id(run), to_yaml(run));
    return 0;
  }
  // Indices of first runs and numbers of runs, by cell, in the config's order.
  const CellLabels labels = label_cells(sweep.runs);
  std::vector<std::pair<std::size_t, std::size_t>> cells;
  std::unordered_map<std::string, std::size_t> index_of_cell;
  for (std::size_t i = 0; i < sweep.runs.size(); ++i) {
    const auto [index, is_new] = index_of_cell.emplace(cell_id(sweep.runs[i]), cells.size());
    if (is_new) cells.emplace_back(i, 0);
    ++cells[index->second].second;
  }
  fmt::print("{}: {} in {}\n", sweep.name, counted(sweep.runs.size(), "run"), counted(cells.size(), "cell"));
  if (!sweep.description.empty()) fmt::print("{}\n", sweep.description);
  std::size_t task_width = 0;
  std::size_t encoding_width = 0;
  for (const auto& [task, encoding] : labels.of) {
    task_width = std::max(task_width, task.size());
    encoding_width = std::max(encoding_width, encoding.size());
  }
  for (const auto& [first, count] : cells) {
    const auto& [task, encoding] = labels.of[first];
    fmt::print("  {:<{}}  {:<{}}  {}, {}\n", task, task_width, encoding, encoding_width,
               counted(count, "run"), cell_id(sweep.runs[first]));
  }
  return 0;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* const command = app.add_subcommand("check", "Validate a config and show what it expands to");
  command->add_option("config", options->config, "config file (YAML)")->required();
  command->add_option("overrides", options->overrides,
                      "settings such as training.steps=100 or axes.seed=[0,1]");
  add_only_option(*command, options->only);
  command->add_flag("--print", options->print, "print the complete config of every run");
  command->add_flag("--name", options->name, "print the name of the experiment alone");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace che
