#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/sweep.h"
#include "experiments/results/result_table.h"
#include "experiments/statistics/permutation_tests.h"
#include "tables/sweep_tables.h"

namespace che {
namespace {

struct CheckOptions {
  ReadConfig config;
  bool print = false;
  bool name = false;
};

// Says how many runs are tested at lengths that do not exceed those of training; empty if none is.
std::string tested_lengths_text(const std::vector<RunConfig>& runs) {
  const std::ptrdiff_t count = std::ranges::count_if(runs, is_tested_within_training);
  if (count == 0) return "";
  return fmt::format(
      "not all test lengths of {} of {} exceed the training lengths: their scores are not of longer inputs "
      "alone\n",
      count, counted(runs.size(), "run"));
}

// Says that repetitions differ in their seed and share their batches; empty if they do not.
std::string shared_data_text(const std::vector<RunConfig>& runs) {
  std::set<std::int64_t> seeds;
  std::set<std::int64_t> data_seeds;
  for (const RunConfig& run : runs) {
    seeds.insert(run.seed);
    data_seeds.insert(run.data_seed);
  }
  if (seeds.size() < 2 || data_seeds.size() > 1) return "";
  return "repetitions share batches and random positions, which data_seed draws\n";
}

// Returns whether the cells of each task have the same draws, each at the same learning rates. Any two cells
// of a task then share all repetitions.
bool share_repetitions(const std::vector<RunConfig>& runs) {
  std::map<TaskLabel, std::map<std::string, std::set<Repetition>>> of_tasks;
  for (const RunConfig& run : runs) {
    of_tasks[run.row_label()][cell_id(run)].emplace(draw_of(run), run.learning_rate);
  }
  return std::ranges::all_of(of_tasks, [](const auto& task) {
    const std::set<Repetition>& first = task.second.begin()->second;
    std::set<Draw> draws;
    std::set<double> rates;
    for (const auto& [draw, rate] : first) {
      draws.insert(draw);
      rates.insert(rate);
    }
    return first.size() == draws.size() * rates.size() &&
           std::ranges::all_of(task.second, [&](const auto& cell) { return cell.second == first; });
  });
}

// Says how small a p-value `che compare` can find with this number of repetitions. Runs of a cell
// count as repetitions if they differ in their draw.
std::string comparison_limit(const std::vector<RunConfig>& runs) {
  std::map<std::string, std::set<Draw>> draws_of_cell;
  for (const RunConfig& run : runs) draws_of_cell[cell_id(run)].insert(draw_of(run));
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  for (const auto& [cell, draws] : draws_of_cell) {
    fewest = std::min(fewest, draws.size());
    most = std::max(most, draws.size());
  }
  const bool share_seeds =
      std::ranges::any_of(draws_of_cell, [](const auto& cell) { return !are_independent(cell.second); });
  if (share_seeds) {
    return "only some repetitions share a seed or a data_seed: `che compare` has no test of them; give "
           "each a seed and a data_seed of its own, or all of them one data_seed";
  }
  if (most == 1) return "one repetition per cell: `che compare` has no test of a difference";
  if (fewest < most || !share_repetitions(runs)) {
    return fmt::format(
        "{}{} repetitions per cell: `che compare` pairs those that two cells share, at the same learning "
        "rates, and says how small its p-value can be",
        fewest < most ? fmt::format("{} to ", fewest) : "", most);
  }
  const double smallest = fewest <= kMaxExactPairs ? std::exp2(1 - static_cast<double>(fewest))
                                                   : 1 / static_cast<double>(kMaxDraws + 1);
  return fmt::format(
      "{} repetitions per cell: the smallest p-value of `che compare`, a two-sided paired "
      "permutation test, is {:.3g} for one task and before Holm's adjustment over the tasks",
      fewest, smallest);
}

int check(const CheckOptions& options) {
  // A script asks for the name before it runs the sweep, which warns.
  const WarningSink warn = options.name ? [](const std::string&) {} : print_warning;
  const Sweep sweep = options.config.sweep(warn);
  if (options.name) {
    fmt::print("{}\n", sweep.name);
    return 0;
  }
  if (options.print) {
    // One YAML document per run, each as a results folder stores it.
    for (const RunConfig& run : sweep.runs) fmt::print("--- # {}\n{}", run_id(run), to_yaml(run));
    return 0;
  }
  const RunGrid grid(sweep.runs);
  fmt::print("{}: {} in {}\n", sweep.name, counted(sweep.runs.size(), "run"), counted(grid.cells(), "cell"));
  if (!sweep.description.empty()) fmt::print("{}\n", one_line(sweep.description, kWholeText));
  for (const std::string& extended : sweep.extends)
    fmt::print("extends {}: its base comes first\n", extended);
  fmt::print("{}", format_table(grid.table(), "terminal", standard_output_style()));
  if (grid.cells() > 1) fmt::print("{}\n", comparison_limit(sweep.runs));
  fmt::print("{}{}", shared_data_text(sweep.runs), tested_lengths_text(sweep.runs));
  return 0;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("check", "Validate a config and show what it expands to");
  const auto options = set_action(*command, action, check);
  add_read_config(*command, options->config);
  command->add_flag("--print", options->print, "print the complete config of every run");
  command->add_flag("--name", options->name, "print only the name of the experiment");
}

}  // namespace che
