#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "experiments/sweep.h"

namespace che {
namespace {

struct CheckOptions {
  std::string config;
  std::vector<std::string> overrides;
  bool print = false;
  bool name = false;
};

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int check(const CheckOptions& options) {
  const Sweep sweep = read_sweep(options.config, options.overrides);
  if (options.name) {
    fmt::print("{}\n", sweep.name);
    return 0;
  }
  if (options.print) {
    // One YAML document a run, each as a results folder stores it.
    for (const RunConfig& run : sweep.runs) fmt::print("--- # {}\n{}", run_id(run), to_yaml(run));
    return 0;
  }
  // By id, in the config's order.
  std::vector<std::pair<const RunConfig*, std::size_t>> cells;
  std::unordered_map<std::string, std::size_t> index_of_cell;
  for (const RunConfig& run : sweep.runs) {
    const auto [index, is_new] = index_of_cell.emplace(cell_id(run), cells.size());
    if (is_new) cells.emplace_back(&run, 0);
    ++cells[index->second].second;
  }
  fmt::print("{}: {} in {}\n", sweep.name, counted(sweep.runs.size(), "run"), counted(cells.size(), "cell"));
  if (!sweep.description.empty()) fmt::print("{}\n", sweep.description);
  for (const auto& [run, count] : cells) {
    fmt::print("  {:<27} {:<27} {}, {}\n", run->task.name, run->encoding.label(), counted(count, "run"),
               cell_id(*run));
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
  command->add_flag("--print", options->print, "print the complete config of every run");
  command->add_flag("--name", options->name, "print the name of the experiment alone");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace che
