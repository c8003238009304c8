#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "experiments/results/paper_agreement.h"
#include "experiments/results/read_results.h"
#include "experiments/results/result_table.h"
#include "tables/result_tables.h"

namespace che {
namespace {

constexpr const char* kComparable = "comparable";
constexpr const char* kPlain = "plain";

struct TableOptions {
  ReadExperiments runs_read;
  std::string aggregate;  // Empty: max, or mean where encodings are compared.
  std::string paper;      // Empty: none; else "comparable" or "plain".
  bool difference = false;
  bool spread = false;
  bool baselines = false;
  bool runs = false;
  bool lengths = false;
  bool at_steps = false;
  bool rank_correlation = false;
  std::vector<std::string> compared;  // None or two.
  bool by_length = false;             // One row per task and length of a comparison.
  std::string compared_with_all;      // Empty: none.
  std::string notes = "short";
  PrintedOutput output;
};

const std::map<std::string, NoteChoice>& note_choices() {
  static const std::map<std::string, NoteChoice> choices = {
      {"none", NoteChoice::kNone}, {"short", NoteChoice::kShort}, {"all", NoteChoice::kAll}};
  return choices;
}

PaperValues paper_values(const std::string& option) {
  if (option.empty()) return PaperValues::kNone;
  return option == kPlain ? PaperValues::kAll : PaperValues::kComparable;
}

// Refuses a number or range among the folders, which is meant for --lengths.
void check_lengths_have_no_value(const TableOptions& options) {
  for (const std::string& word : options.runs_read.folders) {
    if (options.lengths && parse_number_or_range(word) && !is_present(word)) {
      throw Error(
          fmt::format("--lengths takes no value and shows every length that was measured; got {}", word));
    }
  }
}

Table make_contents(const TableOptions& options) {
  check_lengths_have_no_value(options);
  ResultTable results =
      read_table(options.runs_read.paths(), options.runs_read.choice(), options.runs_read.rules());
  if (options.runs) return run_table(results);
  if (options.lengths) return length_table(results);
  if (options.at_steps) return step_table(results);
  const Aggregate of_pairs =
      options.aggregate.empty() ? Aggregate::kMean : aggregate_named(options.aggregate);
  if (!options.compared.empty()) {
    return comparison_table(compare(results, options.compared[0], options.compared[1], of_pairs,
                                    options.by_length ? ComparisonRows::kLengths : ComparisonRows::kTasks),
                            results);
  }
  if (!options.compared_with_all.empty()) {
    return comparison_table(compare_with_all(results, options.compared_with_all, of_pairs), results);
  }
  const Aggregate aggregate =
      options.aggregate.empty() ? default_aggregate(results) : aggregate_named(options.aggregate);
  if (options.rank_correlation) {
    const PaperAgreement agreement = agree(results, aggregate);
    if (std::ranges::all_of(agreement.tasks, [](const AgreedTask& task) { return task.encodings == 0; })) {
      throw Error(fmt::format("{} has no finished run of a cell that is in the paper's table", results.name));
    }
    add_trivial_baselines(results);
    return agreement_table(agreement, results);
  }
  add_trivial_baselines(results, options.baselines ? BaselineUse::kShown : BaselineUse::kMarks);
  return score_table(results, {.aggregate = aggregate,
                               .paper = paper_values(options.paper),
                               .difference = options.difference,
                               .spread = options.spread || results.rates_selected});
}

int print_table(const TableOptions& options) {
  Table table = make_contents(options);
  choose_notes(table, note_choices().at(options.notes));
  options.output.write(table);
  return 0;
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("table", "Print the results of an experiment as a table");
  const auto options = set_action(*command, action, print_table);
  command->footer(
      "Rounded numbers are percentages. csv and json have unrounded fractions, one row per cell with every "
      "aggregate, spread and n.");
  add_read_experiments(*command, options->runs_read);
  add_printed_output(*command, options->output);
  command
      ->add_option("--metric", options->runs_read.metric,
                   "what a score is: accuracy; ppl, bits or loss, of a prediction, where lower is better; "
                   "accuracy for "
                   "tasks and ppl for texts unless given")
      ->check(one_of(metric_names()));
  CLI::Option* const aggregate =
      command
          ->add_option(
              "--aggregate", options->aggregate,
              "what stands for a cell's runs: max, as the field reports it, mean, median, or iqm, the "
              "interquartile mean; max unless given, mean with --compare, --compare-all or --select")
          ->check(one_of(aggregate_names()));
  CLI::Option* const runs =
      command->add_flag("--runs", options->runs, "one row per run instead of one row per task");
  runs->excludes(aggregate);
  CLI::Option* const lengths = command->add_flag(
      "--lengths", options->lengths,
      "one row per run and test length; csv and json have a column for every setting in which runs differ");
  lengths->excludes(aggregate)->excludes(runs);
  CLI::Option* const at_steps = command->add_flag(
      "--at-steps", options->at_steps,
      "one row per task, encoding and training step of evaluation.at_steps, with the mean score "
      "of the runs that were measured there, finished or not");
  at_steps->excludes(aggregate)->excludes(runs)->excludes(lengths);
  CLI::Option* const compare =
      command
          ->add_option(
              "--compare", options->compared,
              "two columns A B: A minus B per task, paired over seeds unless one is a model outside "
              "che, with a permutation test, Holm-adjusted, and from six seeds on a bootstrap interval")
          ->expected(2)
          ->excludes(runs)
          ->excludes(lengths)
          ->excludes(at_steps);
  command
      ->add_flag("--by-length", options->by_length,
                 "with --compare: one row per task and test length, Holm-adjusted over the tasks at a length")
      ->needs(compare);
  CLI::Option* const compare_all =
      command
          ->add_option("--compare-all", options->compared_with_all,
                       "a column: it minus every other, per task, Holm-adjusted over all rows")
          ->excludes(runs)
          ->excludes(lengths)
          ->excludes(at_steps)
          ->excludes(compare);
  CLI::Option* const rank_correlation =
      command
          ->add_flag("--rank-correlation", options->rank_correlation,
                     "how far the encodings of each task stand in the paper's order: Spearman's rho with a "
                     "permutation test, Holm-adjusted, the best here and there, and how far it passes "
                     "the trivial baselines, see --baselines")
          ->excludes(runs)
          ->excludes(lengths)
          ->excludes(at_steps)
          ->excludes(compare)
          ->excludes(compare_all);
  const auto of_scores = [&](CLI::Option* option) {
    option->excludes(runs)
        ->excludes(lengths)
        ->excludes(at_steps)
        ->excludes(compare)
        ->excludes(compare_all)
        ->excludes(rank_correlation);
  };
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
      "of each position, and the most frequent input symbol"));
  command
      ->add_option("--notes", options->notes,
                   "notes below the table: none, short (how to read it and which runs do not count), or all "
                   "(also how numbers are computed and where the runs come from)")
      ->check(one_of({"none", "short", "all"}))
      ->capture_default_str();
}

}  // namespace che
