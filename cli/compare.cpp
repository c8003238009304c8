#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "experiments/results/comparison.h"
#include "experiments/results/paper_agreement.h"
#include "experiments/results/result_table.h"
#include "tables/result_tables.h"

namespace che {
namespace {

constexpr const char* kSeedUnit = "seed";
constexpr const char* kWindowUnit = "window";

struct CompareOptions {
  ReadExperiments runs_read;
  std::string aggregate = "mean";
  std::string column;
  std::string base;  // Empty: every other column.
  bool by_length = false;
  std::string unit = kSeedUnit;
  NotedOutput output;
};

int print_comparison(const CompareOptions& options) {
  const ResultTable results = options.runs_read.table();
  const Aggregate aggregate = aggregate_named(options.aggregate);
  const ComparisonUnit unit = options.unit == kWindowUnit ? ComparisonUnit::kWindow : ComparisonUnit::kSeed;
  if (options.base.empty()) {
    return options.output.write(
        comparison_table(compare_with_all(results, options.column, aggregate, unit), results));
  }
  const ComparisonRows rows = options.by_length ? ComparisonRows::kLengths : ComparisonRows::kTasks;
  return options.output.write(
      comparison_table(compare(results, options.column, options.base, aggregate, rows, unit), results));
}

struct AgreementOptions {
  ReadExperiments runs_read;
  std::string aggregate;  // Empty: the default.
  NotedOutput output;
};

int print_agreement(const AgreementOptions& options) {
  ResultTable results = options.runs_read.table();
  const PaperAgreement agreement = agree(
      results, options.aggregate.empty() ? default_aggregate(results) : aggregate_named(options.aggregate));
  if (std::ranges::all_of(agreement.tasks, [](const AgreedTask& task) { return task.encodings == 0; })) {
    if (!std::ranges::all_of(agreement.tasks, &AgreedTask::measured_alike)) {
      throw Error(
          fmt::format("the columns of a task in {} are evaluated differently (lengths, samples, eval_dropout "
                      "or evaluation seeds); choose columns that are evaluated alike with --only",
                      results.name));
    }
    throw Error(fmt::format("{} has no finished run of a cell that is in the paper's table", results.name));
  }
  add_trivial_baselines(results);
  return options.output.write(agreement_table(agreement, results));
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("compare", "Print the differences between columns of a table, with p-values");
  const auto options = set_action(*command, action, print_comparison);
  command->footer(
      "One row per task, paired over seeds unless one column is a model outside che: a permutation test, "
      "adjusted by Holm's method over the rows, and from six seeds on a bootstrap interval. There is no test "
      "where only some repetitions share a seed or a data_seed.");
  add_read_experiments(*command, options->runs_read);
  command->add_option("--column", options->column, "column of the table, `dape_kerple`")->required();
  CLI::Option* const base = command->add_option(
      "--base", options->base, "column that is subtracted; every other column in turn unless given");
  command
      ->add_flag("--by-length", options->by_length,
                 "one row per task and test length, adjusted over the tasks at a length")
      ->needs(base);
  command
      ->add_option("--unit", options->unit,
                   "what is paired: the score of a seed, or, of texts, the loss of a window, mean over seeds")
      ->capture_default_str()
      ->check(CLI::IsMember({kSeedUnit, kWindowUnit}));
  add_aggregate(*command, options->aggregate, "mean unless given");
  options->output.add_to(*command);
}

void add_agreement_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("agreement", "Print how far the encodings stand in the paper's order");
  const auto options = set_action(*command, action, print_agreement);
  command->footer(
      "One row per task: Spearman's rho with a permutation test, adjusted by Holm's method, the best "
      "encoding "
      "here and in the paper, and how far it passes the trivial baselines.");
  add_read_experiments(*command, options->runs_read);
  add_aggregate(*command, options->aggregate, "max unless given; mean with --select");
  options->output.add_to(*command);
}

}  // namespace che
