#include "tables/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/analysis/training_outcome.h"
#include "tables/result_notes.h"

namespace che {
namespace {

PrintedCell score_cell(const std::optional<double>& score, const ComparedRuns& runs) {
  PrintedCell cell = number_cell(score, percent);
  if (runs.did_not_train()) cell.sign = kUntrainedSign;
  return cell;
}

PrintedRow print_row(const ComparedTask& task) {
  const auto& interval = task.interval;
  PrintedRow row = {
      .group = std::string(level_name(task.level)),
      .cells = {{.text = task.task.text()},
                {.text = fmt::format("{}", task.seeds), .value = static_cast<double>(task.seeds)},
                score_cell(task.one, task.one_runs),
                score_cell(task.other, task.other_runs),
                number_cell(task.difference, signed_percent),
                {.text = interval ? fmt::format("{} .. {}", signed_percent(interval->low),
                                                signed_percent(interval->high))
                                  : kNoNumber,
                 .value = interval ? std::optional(interval->low) : std::nullopt},
                number_cell(task.p, p_text),
                number_cell(task.adjusted_p, p_text),
                number_cell(task.detectable, percent)}};
  if (task.length) {
    row.cells.insert(row.cells.begin() + 1,
                     {.text = fmt::format("{}", *task.length), .value = static_cast<double>(*task.length)});
  }
  return row;
}

// "0.0001, 0.001"; with its tasks where they differ: "0.0001, 0.001 (even_pairs); 0.001 (odds_first)".
std::string rates_text(const std::vector<ComparedTask>& tasks) {
  std::map<std::string, std::vector<std::string>> tasks_of;
  for (const ComparedTask& task : tasks) {
    if (task.rates.empty()) continue;
    std::vector<std::string>& names = tasks_of[fmt::format("{}", fmt::join(task.rates, ", "))];
    if (names.empty() || names.back() != task.task.text()) names.push_back(task.task.text());
  }
  if (tasks_of.size() == 1) return tasks_of.begin()->first;
  std::vector<std::string> texts;
  texts.reserve(tasks_of.size());
  for (const auto& [rates, names] : tasks_of) {
    texts.push_back(fmt::format("{} ({})", rates, fmt::join(names, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void append_untrained_notes(std::vector<Note>& notes, const Comparison& comparison) {
  bool has_sign = false;
  std::vector<UntrainedRuns> some;
  for (const ComparedTask& task : comparison.tasks) {
    // The rows of one task are of the same runs.
    const bool is_named = !some.empty() && some.back().task == task.task;
    const auto add = [&](const ComparedRuns& runs, const EncodingLabel& encoding) {
      has_sign = has_sign || runs.did_not_train();
      if (runs.untrained == 0 || runs.did_not_train() || is_named) return;
      some.push_back({.encoding = encoding, .task = task.task, .runs = runs.untrained, .of = runs.counted});
    };
    add(task.one_runs, comparison.one);
    add(task.other_runs, comparison.other);
  }
  if (has_sign) notes.push_back(untrained_note("no run that is compared reached"));
  append_untrained_runs_note(notes, some);
}

bool is_by_length(const Comparison& comparison) {
  return std::ranges::any_of(comparison.tasks,
                             [](const ComparedTask& task) { return task.length.has_value(); });
}

std::vector<Note> notes_of(const Comparison& comparison, const ResultTable& table) {
  const bool by_length = is_by_length(comparison);
  std::size_t unpaired = 0;
  std::size_t tests = 0;
  std::size_t max_seeds = 0;
  bool has_interval = false;
  bool lacks_interval = false;
  const TaskLabel* before = nullptr;  // The rows of one task are of the same runs.
  for (const ComparedTask& task : comparison.tasks) {
    if (before == nullptr || *before != task.task) {
      unpaired += task.unpaired;
      tests += task.p ? 1U : 0U;
    }
    before = &task.task;
    max_seeds = std::max(max_seeds, task.seeds);
    has_interval = has_interval || task.interval;
    lacks_interval = lacks_interval || !task.interval;
  }
  std::vector<Note> notes = {
      {NoteKind::kReading,
       fmt::format(
           "The score of a seed is its {}. Columns: {} over the seeds; difference: that of the seeds' "
           "differences.",
           table.rates_selected
               ? std::string("score at the learning rate that was selected for the cell")
               : fmt::format("mean over the learning rates that both encodings finished with every "
                             "seed that counts: {}",
                             rates_text(comparison.tasks)),
           aggregate_phrase(comparison.aggregate))},
      {NoteKind::kStatistics,
       fmt::format(
           "95 % interval: bootstrap over seeds, percentiles of {} resamples. p: two-sided permutation "
           "test, signs of the seeds' differences flipped ({}). Holm: adjusted over the tasks tested{}, "
           "{} in all.",
           kBootstrapResamples,
           max_seeds <= kMaxExactPairs ? "every assignment"
                                       : fmt::format("every assignment up to {} seeds, {} random ones beyond",
                                                     kMaxExactPairs, kRandomAssignments),
           by_length ? " at a length" : "", tests)}};
  if (by_length) {
    notes.insert(
        notes.begin() + 1,
        {NoteKind::kReading,
         "One row per test length; the score is the mean over these lengths, which weigh the same."});
  }
  if (comparison.one.form.foreign != comparison.other.form.foreign) {
    notes.push_back({NoteKind::kStatistics,
                     "One of the two is a model outside che: repetitions are paired by their seeds' numbers, "
                     "share neither initial parameters nor training data, and its learning rate is not "
                     "known."});
  }
  if (tests == 0) {
    notes.push_back({NoteKind::kStatistics, "Tests need two seeds or more."});
  } else if (max_seeds <= kMaxExactPairs) {
    notes.push_back(
        {NoteKind::kStatistics, fmt::format("With {} seeds p is {:.2g} at least, whatever the difference.",
                                            max_seeds, std::ldexp(2.0, -static_cast<int>(max_seeds)))});
  }
  if (tests > 0) {
    notes.push_back(
        {NoteKind::kStatistics,
         "80 % power: the least true mean difference that a two-sided t-test at p < .05 finds with "
         "probability 80 % in as many pairs with this spread, before Holm's adjustment, which lowers the "
         "probability."});
  }
  if (has_interval && comparison.aggregate == Aggregate::kMean) {
    std::vector<std::string> coverage;
    coverage.reserve(kIntervalCoverage.size());
    for (const auto& [seeds, covered] : kIntervalCoverage) {
      coverage.push_back(fmt::format("{} % of {}", covered, seeds));
    }
    notes.push_back(
        {NoteKind::kStatistics,
         fmt::format("The interval is too narrow for few seeds: where differences are normal it covers their "
                     "mean in {} seeds.",
                     fmt::join(coverage, ", "))});
  }
  if (lacks_interval) {
    notes.push_back({NoteKind::kStatistics,
                     fmt::format("Below {} seeds there is no interval: even from the least to the greatest "
                                 "of n differences it would "
                                 "cover the median only with probability 1 - 2 / 2^n, less than 95 %.",
                                 kMinIntervalPairs)});
  }
  if (unpaired > 0) {
    notes.push_back(
        {NoteKind::kMissing,
         fmt::format("Left out: finished runs of other seeds or learning rates, {} in all.", unpaired)});
  }
  if (!comparison.one_sided.empty()) {
    std::vector<std::string> tasks;
    tasks.reserve(comparison.one_sided.size());
    for (const TaskLabel& task : comparison.one_sided) tasks.push_back(task.text());
    notes.push_back(
        {NoteKind::kMissing,
         fmt::format("Left out: tasks that only one of the two was run on: {}.", fmt::join(tasks, ", "))});
  }
  for (const TableRun& run : table.runs) {
    const bool compared = run.encoding == comparison.one || run.encoding == comparison.other;
    if (compared && !run.score && is_begun(run)) {
      notes.push_back({NoteKind::kMissing, fmt::format("Not counted: {}, {}.", run.id, missing_reason(run))});
    }
  }
  append_untrained_notes(notes, comparison);
  append_provenance(notes, table);
  return notes;
}

PrintedColumn column_of(const EncodingLabel& encoding) {
  return {.title = encoding.form.text(), .settings = encoding.settings_text()};
}

}  // namespace

Table comparison_table(const Comparison& comparison, const ResultTable& table) {
  const std::vector<Note> shared_notes = notes_of(comparison, table);
  const auto with_units = [&](const char* units) {
    std::vector<Note> all = {{NoteKind::kReading, units}};
    all.insert(all.end(), shared_notes.begin(), shared_notes.end());
    return all;
  };
  Table result{
      .title = fmt::format("{} minus {} in the experiment {}, paired over seeds.", comparison.one.text(),
                           comparison.other.text(), table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "seeds"},
                              column_of(comparison.one),
                              column_of(comparison.other),
                              {.title = "difference"},
                              {.title = "95 % interval"},
                              {.title = "p"},
                              {.title = "p (Holm)"},
                              {.title = "80 % power"}},
                  .rows = {},
                  .footnotes = {},
                  .notes = with_units("Scores in percent, differences in points.")},
      .data = {.columns = {"level", "task", "one", "other", "aggregate", "seeds", "rates", "unpaired",
                           "one_score", "other_score", "difference", "interval_low", "interval_high", "p",
                           "p_holm", "one_untrained", "other_untrained", "detectable"},
               .rows = {},
               .notes = with_units("Scores and differences are fractions of 1.")}};
  for (const ComparedTask& task : comparison.tasks) {
    result.printed.rows.push_back(print_row(task));
    const auto& interval = task.interval;
    result.data.rows.push_back(
        {std::string(level_name(task.level)), task.task.text(), comparison.one.text(),
         comparison.other.text(), std::string(aggregate_name(comparison.aggregate)),
         static_cast<std::int64_t>(task.seeds), fmt::format("{}", fmt::join(task.rates, ";")),
         static_cast<std::int64_t>(task.unpaired), table_value(task.one), table_value(task.other),
         table_value(task.difference), table_value(interval ? std::optional(interval->low) : std::nullopt),
         table_value(interval ? std::optional(interval->high) : std::nullopt), table_value(task.p),
         table_value(task.adjusted_p), static_cast<std::int64_t>(task.one_runs.untrained),
         static_cast<std::int64_t>(task.other_runs.untrained), table_value(task.detectable)});
    if (task.length) result.data.rows.back().insert(result.data.rows.back().begin() + 2, *task.length);
  }
  if (is_by_length(comparison)) {
    result.printed.columns.insert(result.printed.columns.begin() + 1, {.title = "length"});
    result.data.columns.insert(result.data.columns.begin() + 2, "length");
  }
  return result;
}

}  // namespace che
