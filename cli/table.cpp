#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "experiments/results/result_table.h"
#include "experiments/results/text_rows.h"
#include "tables/result_tables.h"

namespace che {
namespace {

constexpr const char* kComparable = "comparable";
constexpr const char* kPlain = "plain";

struct TableOptions {
  ReadExperiments runs_read;
  std::string aggregate;  // Empty: the default.
  std::string paper;      // Empty: none; else "comparable" or "plain".
  bool difference = false;
  bool spread = false;
  bool baselines = false;
  bool runs = false;
  bool lengths = false;
  bool at_steps = false;
  NotedOutput output;
};

PaperValues paper_values(const std::string& option) {
  if (option.empty()) return PaperValues::kNone;
  return option == kPlain ? PaperValues::kAll : PaperValues::kComparable;
}

int print_table(const TableOptions& options) {
  ResultTable results = options.runs_read.table();
  if (options.runs) return options.output.write(run_table(results));
  if (options.lengths) return options.output.write(length_table(results));
  if (options.at_steps) return options.output.write(step_table(results));
  add_trivial_baselines(results, options.baselines ? BaselineUse::kShown : BaselineUse::kMarks);
  if (options.baselines) add_ngrams(results);
  // Data formats have a column for the paper whether --paper is given or not.
  const std::string& format = options.output.output.format;
  const bool is_data = format == "csv" || format == "json";
  if (!options.paper.empty() || options.difference || is_data) add_paper_perplexities(results);
  if (is_data && !results.quoted.empty()) {
    print_warning("csv and json have no quoted scores; tables in text, md, html and tex show them");
  }
  return options.output.write(
      score_table(results, {.aggregate = options.aggregate.empty() ? default_aggregate(results)
                                                                   : aggregate_named(options.aggregate),
                            .paper = paper_values(options.paper),
                            .difference = options.difference,
                            .spread = options.spread || results.select.has_value(),
                            .quoted = true}));
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("table", "Print the results of an experiment as a table");
  const auto options = set_action(*command, action, print_table);
  command->footer(
      "Rounded numbers are percentages. csv and json have unrounded fractions, one row per cell with every "
      "aggregate, spread and n.");
  add_read_experiments(*command, options->runs_read);
  options->output.add_to(*command);
  CLI::Option* const metric =
      command
          ->add_option(
              "--metric", options->runs_read.metric,
              "what a score is: accuracy; ppl, bits or loss, of a prediction, where lower is better; "
              "accuracy for tasks and ppl for texts unless given")
          ->check(one_of(metric_names()));
  // In place of scores, at most one of these.
  std::vector<CLI::Option*> rows;
  const auto add_rows = [&](const char* name, bool& value, const char* help) {
    CLI::Option* const option = command->add_flag(name, value, help);
    for (CLI::Option* const other : rows) option->excludes(other);
    rows.push_back(option);
    return option;
  };
  add_rows("--runs", options->runs, "one row per run instead of one row per task");
  metric->excludes(add_rows(
      "--lengths", options->lengths,
      "one row per run and test length, with accuracy and loss; csv and json have a column for every setting "
      "in which runs differ"));
  add_rows("--at-steps", options->at_steps,
           "one row per task, encoding and training step of evaluation.at_steps, with the mean score "
           "of the runs that were measured there, finished or not");
  const auto of_scores = [&](CLI::Option* option) {
    for (CLI::Option* const other : rows) option->excludes(other);
  };
  of_scores(add_aggregate(*command, options->aggregate,
                          "max, as the field reports it, unless given; mean with --select"));
  of_scores(
      command
          ->add_option(
              "--paper", options->paper,
              "the paper's value in parentheses, next to randomized_ encodings; plain: next to encodings "
              "with contiguous positions too, marked as another method")
          ->type_name("[comparable|plain]")
          ->expected(0, 1)
          ->default_str(kComparable)
          ->check(CLI::Validator(
              [](const std::string& value) -> std::string {
                if (value == kComparable || value == kPlain) return "";
                return fmt::format("got '{}'; allowed: comparable or plain", value);
              },
              "")));
  of_scores(command->add_flag("--difference", options->difference,
                              "ours minus the paper's value in parentheses, in points"));
  of_scores(
      command->add_flag("--spread", options->spread,
                        "the spread over a cell's runs: the lowest and the highest score in brackets for "
                        "max, the standard deviation after \u00b1 for mean, the quartiles in brackets for "
                        "median and iqm; --select shows it always"));
  of_scores(command->add_flag(
      "--baselines", options->baselines,
      "columns for trivial baselines, measured on the same samples: the best constant, the likeliest symbol "
      "of each position, and the most frequent input symbol; of texts, n-grams of the training part"));
}

}  // namespace che
