#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/text.h"
#include "tables/notes.h"
#include "tables/result_tables.h"

namespace che {
namespace {

PrintedCell score_cell(const std::optional<double>& score, const Metric& metric, const ComparedRuns& runs) {
  PrintedCell cell = number_cell(score, metric);
  if (runs.did_not_train()) cell.sign = kUntrainedSign;
  return cell;
}

PrintedRow print_row(const ComparedTask& task) {
  const auto& interval = task.interval;
  PrintedRow row = {
      .group = std::string(level_name(task.level)),
      .cells = {{.text = task.task.text()},
                {.text = fmt::format("{}", task.seeds), .value = static_cast<double>(task.seeds)},
                score_cell(task.one, task.metric, task.one_runs),
                score_cell(task.other, task.metric, task.other_runs),
                difference_cell(task.difference, task.metric),
                {.text = interval ? fmt::format("{} .. {}", task.metric.format_difference(interval->low),
                                                task.metric.format_difference(interval->high))
                                  : kNoNumber,
                 .value = interval ? std::optional(interval->low) : std::nullopt},
                number_cell(task.p, p_text),
                number_cell(task.adjusted_p, p_text),
                number_cell(task.detectable, task.metric)}};
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
  return joined(tasks_of, "; ", [](const auto& rates) {
    return fmt::format("{} ({})", rates.first, fmt::join(rates.second, ", "));
  });
}

void append_untrained_notes(std::vector<Note>& notes, const Comparison& comparison) {
  bool has_sign = false;
  std::vector<PartlyTrainedCell> some;
  for (const ComparedTask& task : comparison.tasks) {
    const bool is_named = !some.empty() && some.back().task == task.task;
    const auto add = [&](const ComparedRuns& runs, const EncodingLabel& encoding) {
      has_sign = has_sign || runs.did_not_train();
      if (runs.untrained == 0 || runs.did_not_train() || is_named) return;
      some.push_back(
          {.encoding = encoding, .task = task.task, .untrained = runs.untrained, .counted = runs.counted});
    };
    add(task.one_runs, comparison.one);
    add(task.other_runs, comparison.other);
  }
  if (has_sign) append_untrained_note(notes, "no run that is compared reached");
  append_partly_trained_note(notes, some);
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
  const TaskLabel* before = nullptr;  // Rows of one task have the same runs.
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
  std::vector<Note> notes;
  add_note(notes, NoteKind::kReading,
           "The score of a seed is its {}. Columns: {} over the seeds; difference: that of the seeds' "
           "differences.",
           table.rates_selected
               ? std::string("score at the learning rate that was selected for the cell")
               : fmt::format("mean over the learning rates that both encodings finished with "
                             "every seed that counts: {}",
                             rates_text(comparison.tasks)),
           aggregate_phrase(comparison.aggregate));
  if (by_length) {
    add_note(notes, NoteKind::kReading,
             "One row per test length; the score is the mean over these lengths, which weigh the same.");
  }
  add_note(notes, NoteKind::kMethod,
           "95 % interval: bootstrap over seeds, percentiles of {} resamples. p: two-sided permutation test, "
           "signs of the seeds' differences flipped ({}). Holm: adjusted over the tasks tested{}, {} in all.",
           kBootstrapResamples,
           max_seeds <= kMaxExactPairs ? "every assignment"
                                       : fmt::format("every assignment up to {} seeds, {} random ones beyond",
                                                     kMaxExactPairs, kRandomAssignments),
           by_length ? " at a length" : "", tests);
  if (comparison.one.form.foreign != comparison.other.form.foreign) {
    add_note(notes, NoteKind::kReading,
             "One of the two is a model outside che: repetitions are paired by their seeds' numbers, share "
             "neither initial parameters nor training data, and its learning rate is not known.");
  }
  if (tests == 0) {
    add_note(notes, NoteKind::kReading, "Tests need two seeds or more.");
  } else {
    if (max_seeds <= kMaxExactPairs) {
      add_note(notes, NoteKind::kReading, "With {} seeds p is {:.2g} at least, whatever the difference.",
               max_seeds, std::ldexp(2.0, -static_cast<int>(max_seeds)));
    }
    add_note(notes, NoteKind::kMethod,
             "80 % power: the least true mean difference that a two-sided t-test at p < .05 finds with "
             "probability 80 % in as many pairs with this spread, before Holm's adjustment, which lowers the "
             "probability.");
  }
  if (has_interval && comparison.aggregate == Aggregate::kMean) {
    add_note(notes, NoteKind::kReading,
             "The interval is too narrow for few seeds: where differences are normal it covers their mean in "
             "{} seeds.",
             joined(kIntervalCoverage, ", ", [](const IntervalCoverage& coverage) {
               return fmt::format("{} % of {}", coverage.percent, coverage.pairs);
             }));
  }
  if (lacks_interval) {
    add_note(notes, NoteKind::kMethod,
             "Below {} seeds there is no interval: even from the least to the greatest of n differences it "
             "would cover the median only with probability 1 - 2 / 2^n, less than 95 %.",
             kMinIntervalPairs);
  }
  if (unpaired > 0) {
    add_note(notes, NoteKind::kReading,
             "Left out: finished runs of other seeds or learning rates, {} in all.", unpaired);
  }
  if (!comparison.one_sided.empty()) {
    add_note(notes, NoteKind::kReading, "Left out: tasks that only one of the two was run on: {}.",
             joined(comparison.one_sided, ", ", [](const TaskLabel& task) { return task.text(); }));
  }
  for (const TableRun& run : table.runs) {
    const bool compared = run.encoding == comparison.one || run.encoding == comparison.other;
    if (compared && !run.score && is_begun(run)) {
      add_note(notes, NoteKind::kReading, "Not counted: {}, {}.", run.id, missing_reason(run));
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
  const auto foot = [&](const char* unit) {
    std::vector<Note> notes = {{NoteKind::kReading, unit}};
    notes.insert(notes.end(), shared_notes.begin(), shared_notes.end());
    return notes;
  };
  Table result{.title = fmt::format("{} minus {} in the experiment {}, paired over seeds.",
                                    comparison.one.text(), comparison.other.text(), table.name),
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
                           .notes = foot("Scores in percent, differences in points.")},
               .data = {.notes = foot("Scores and differences are fractions of 1.")}};
  if (is_by_length(comparison)) {
    result.printed.columns.insert(result.printed.columns.begin() + 1, {.title = "length"});
  }
  for (const ComparedTask& task : comparison.tasks) {
    result.printed.rows.push_back(print_row(task));
    const auto bound = [&](double Interval::*end) {
      return task.interval ? TableValue((*task.interval).*end) : TableValue();
    };
    std::vector<std::pair<const char*, TableValue>> values = {
        {"level", std::string(level_name(task.level))},
        {"task", task.task.text()},
        {"one", comparison.one.text()},
        {"other", comparison.other.text()},
        {"aggregate", std::string(aggregate_name(comparison.aggregate))},
        {"seeds", static_cast<std::int64_t>(task.seeds)},
        {"rates", fmt::format("{}", fmt::join(task.rates, ";"))},
        {"unpaired", static_cast<std::int64_t>(task.unpaired)},
        {"one_score", table_value(task.one)},
        {"other_score", table_value(task.other)},
        {"difference", table_value(task.difference)},
        {"interval_low", bound(&Interval::low)},
        {"interval_high", bound(&Interval::high)},
        {"p", table_value(task.p)},
        {"p_holm", table_value(task.adjusted_p)},
        {"one_untrained", static_cast<std::int64_t>(task.one_runs.untrained)},
        {"other_untrained", static_cast<std::int64_t>(task.other_runs.untrained)},
        {"detectable", table_value(task.detectable)}};
    if (task.length) values.insert(values.begin() + 2, {"length", *task.length});
    result.data.add_row(values);
  }
  return result;
}

}  // namespace che
