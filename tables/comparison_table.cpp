#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/text.h"
#include "tables/notes.h"
#include "tables/result_tables.h"
#include "tables/units.h"

namespace che {
namespace {

PrintedCell score_cell(const std::optional<double>& score, const Metric& metric, const ComparedRuns& runs) {
  PrintedCell cell = number_cell(score, metric);
  if (runs.did_not_train()) cell.sign = kUntrainedSign;
  return cell;
}

// "10"; "10 / 3" where seeds are not paired.
std::string seeds_text(const ComparedTask& task, const char* between) {
  return fmt::format("{}{}", task.seeds, task.paired ? "" : fmt::format("{}{}", between, task.other_seeds));
}

// With `against`, the name of the other column, the row is one of several comparisons.
PrintedRow print_row(const ComparedTask& task, const std::string& against, ComparisonUnit unit) {
  const auto& interval = task.interval;
  PrintedRow row = {
      .group = std::string(level_name(task.level)),
      .cells = {{.text = task.task.text()},
                {.text = seeds_text(task, " / "), .value = static_cast<double>(task.seeds)},
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
  if (unit == ComparisonUnit::kWindow) {
    row.cells.insert(row.cells.begin() + 2,
                     {.text = fmt::format("{}", task.windows), .value = static_cast<double>(task.windows)});
  }
  if (task.length) {
    row.cells.insert(row.cells.begin() + 1,
                     {.text = fmt::format("{}", *task.length), .value = static_cast<double>(*task.length)});
  }
  if (!against.empty()) row.cells.insert(row.cells.begin() + 1, {.text = against});
  return row;
}

// "0.0001, 0.001"; with its tasks where they differ: "0.0001, 0.001 (even_pairs); 0.001 (odds_first)".
std::string rates_text(const std::vector<Comparison>& comparisons) {
  std::map<std::string, std::vector<std::string>> tasks_of;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedTask& task : comparison.tasks) {
      if (task.rates.empty()) continue;
      std::vector<std::string>& names = tasks_of[fmt::format("{}", fmt::join(task.rates, ", "))];
      if (std::ranges::count(names, task.task.text()) == 0) names.push_back(task.task.text());
    }
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

// Names the least p that a row can have by its number of seeds, unless that of a row is not known.
void append_least_p(std::vector<Note>& notes, const std::vector<Comparison>& comparisons, std::size_t tests) {
  std::map<std::string, std::optional<double>> least;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedTask& task : comparison.tasks) {
      if (!task.p) continue;
      std::optional<double>& p = least[seeds_text(task, " and ")];
      if (p) continue;
      p = task.paired ? least_sign_flip_p(task.seeds, comparison.aggregate)
                      : least_relabelling_p(task.seeds, task.other_seeds, comparison.aggregate);
    }
  }
  const auto [seeds, p] = *std::ranges::min_element(least, {}, [](const auto& row) { return row.second; });
  if (!p) return;
  const double adjusted = std::min(1.0, static_cast<double>(tests) * *p);
  add_note(notes, NoteKind::kReading, "With {} seeds p is {:.2g} at least, whatever the difference{}.", seeds,
           *p, tests > 1 ? fmt::format(", and the least adjusted p is {:.2g}", adjusted) : "");
}

void append_method_notes(std::vector<Note>& notes, const std::vector<Comparison>& comparisons,
                         bool against_all, bool by_length) {
  std::size_t tests = 0;
  std::size_t max_pairs = 0;
  bool has_interval = false;
  bool lacks_interval = false;
  bool lacks_test = false;
  bool has_huge = false;
  bool share_seeds = false;
  bool has_groups = false;
  for (const Comparison& comparison : comparisons) {
    const TaskLabel* before = nullptr;  // Rows of one task have the same runs.
    for (const ComparedTask& task : comparison.tasks) {
      if (before == nullptr || *before != task.task) tests += task.p ? 1U : 0U;
      before = &task.task;
      lacks_test = lacks_test || !(task.p || task.share_seeds);
      share_seeds = share_seeds || task.share_seeds;
      has_huge = has_huge || task.has_huge;
      has_groups = has_groups || !task.paired;
      if (task.paired) max_pairs = std::max(max_pairs, task.seeds);
      has_interval = has_interval || task.interval;
      lacks_interval = lacks_interval || !(task.interval || task.share_seeds);
    }
  }
  std::string test;
  if (max_pairs > 0) {
    test = fmt::format("signs of the seeds' differences flipped ({})",
                       max_pairs <= kMaxExactPairs
                           ? "every assignment"
                           : fmt::format("every assignment up to {} seeds, {} random ones beyond",
                                         kMaxExactPairs, kMaxDraws));
  }
  if (has_groups) {
    test += fmt::format(
        "{}the seeds of both sides split anew in every way, or in {} random ones where there are more",
        max_pairs > 0 ? "; against a model outside che " : "", kMaxDraws);
  }
  add_note(notes, NoteKind::kMethod,
           "95 % interval: bootstrap over seeds, percentiles of {} resamples. p: two-sided permutation test, "
           "{}. Holm: adjusted over the {} tested{}, {} in all.",
           kMaxDraws, test, against_all ? "rows" : "tasks", by_length ? " at a length" : "", tests);
  if (has_groups) {
    add_note(notes, NoteKind::kReading,
             "Where a model outside che is compared, seeds are not paired, whatever their numbers, and its "
             "learning rates count as one.");
  }
  if (lacks_test) {
    add_note(notes, NoteKind::kReading, "A test needs two seeds or more{}{}.",
             has_groups ? " on both sides" : "",
             has_huge ? fmt::format(", and scores that are all below {:g}", kHugeScore) : "");
  }
  append_shared_seeds_note(notes, share_seeds);
  if (tests > 0) {
    append_least_p(notes, comparisons, tests);
    add_note(
        notes, NoteKind::kMethod,
        "80 % power, in points: the least true mean difference that a two-sided t-test at p < .05 finds with "
        "probability 80 % in as many {} with this spread, before Holm's adjustment, which lowers the "
        "probability.",
        has_groups ? "seeds" : "pairs");
  }
  if (has_interval && max_pairs > 0 && comparisons.front().aggregate == Aggregate::kMean) {
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
}

// `against` is empty, or names the other column: " against rope".
void append_left_out(std::vector<Note>& notes, const Comparison& comparison, const std::string& against,
                     const ResultTable& table) {
  std::size_t unpaired = 0;
  const TaskLabel* before = nullptr;
  for (const ComparedTask& task : comparison.tasks) {
    if (before == nullptr || *before != task.task) unpaired += task.unpaired;
    before = &task.task;
  }
  if (unpaired > 0) {
    add_note(notes, NoteKind::kReading,
             "Left out{}: finished runs of other seeds or learning rates, {} in all.", against, unpaired);
  }
  if (!comparison.one_sided.empty()) {
    add_note(notes, NoteKind::kReading, "Left out{}: tasks that only one of the two was run on: {}.", against,
             joined(comparison.one_sided, ", ", [](const TaskLabel& task) { return task.text(); }));
  }
  for (const TableRun& run : table.runs) {
    const bool compared = run.encoding == comparison.one || run.encoding == comparison.other;
    if (compared && !run.score && is_begun(run)) {
      add_note(notes, NoteKind::kReading, "Not counted: {}, {}.", run.id, missing_reason(run));
    }
  }
  append_untrained_notes(notes, comparison);
}

// Notes on the method where windows are compared.
void append_window_notes(std::vector<Note>& notes, const std::vector<Comparison>& comparisons) {
  std::size_t tests = 0;
  std::set<std::size_t> documents;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedTask& task : comparison.tasks) {
      tests += task.p ? 1U : 0U;
      if (task.documents > 0) documents.insert(task.documents);
    }
  }
  add_note(notes, NoteKind::kReading,
           "The losses say how these trained models differ on this text. They do not say whether another "
           "training would give the same; --unit seed asks that.");
  add_note(notes, NoteKind::kReading,
           "Windows of one document are not independent, and these are of {}. From {} documents on, every "
           "column is computed from the means of documents.",
           joined(documents, ", ", [](std::size_t count) { return counted(count, "document"); }),
           kMinIntervalPairs);
  add_note(
      notes, NoteKind::kMethod,
      "95 % interval: bootstrap over windows, percentiles of {} resamples. p: two-sided permutation test, "
      "signs of the windows' differences flipped, every assignment up to {} windows, {} random ones "
      "beyond; above {} windows fewer resamples and random ones. Holm: adjusted over the rows, {} in all.",
      kMaxDraws, kMaxExactPairs, kMaxDraws, kMaxFullyDrawn, tests);
}

std::vector<Note> notes_of(const std::vector<Comparison>& comparisons,
                           const std::vector<std::string>& left_out, bool against_all,
                           const ResultTable& table) {
  const Comparison& first = comparisons.front();
  const bool by_length = is_by_length(first);
  const std::string rates = rates_text(comparisons);
  std::vector<Note> notes;
  const bool are_windows = first.unit == ComparisonUnit::kWindow;
  if (are_windows) {
    const bool has_rates = std::ranges::any_of(comparisons, [](const Comparison& one) {
      return std::ranges::any_of(one.tasks, [](const ComparedTask& task) { return task.rates.size() > 1; });
    });
    add_note(notes, NoteKind::kReading,
             "The score of a window is the mean loss of its predictions, mean over the seeds{} that both "
             "columns finished. Columns: {} over the windows; difference: that of the windows' differences.",
             has_rates ? fmt::format(" and learning rates ({})", rates) : "",
             aggregate_phrase(first.aggregate));
    append_window_notes(notes, comparisons);
  } else {
    const bool all_paired = std::ranges::all_of(comparisons, &Comparison::paired);
    const auto words = [&](const char* paired, const char* mixed, const char* unpaired) {
      return all_paired ? paired : std::ranges::any_of(comparisons, &Comparison::paired) ? mixed : unpaired;
    };
    const std::string of_rates = fmt::format(
        "mean over the learning rates that {} finished with every seed that counts: {}",
        words("both columns", "both columns (its own column where seeds are not paired)", "its column"),
        rates);
    add_note(notes, NoteKind::kReading,
             "The score of a seed is its {}. Columns: {} over the seeds; difference: that of the {}.",
             table.select    ? "score at the learning rate that was selected for the cell"
             : rates.empty() ? "mean accuracy over the test lengths"
                             : of_rates.c_str(),
             aggregate_phrase(first.aggregate),
             words("seeds' differences", "seeds' differences, or of the columns where seeds are not paired",
                   "columns"));
  }
  if (by_length) {
    add_note(notes, NoteKind::kReading,
             "One row per test length; the score is the mean over these lengths, which weigh the same.");
  }
  if (!are_windows) append_method_notes(notes, comparisons, against_all, by_length);
  for (const Comparison& comparison : comparisons) {
    std::vector<Note> of_one;
    append_left_out(of_one, comparison, against_all ? " against " + comparison.other.text() : "", table);
    for (Note& note : of_one) {
      const auto is_same = [&](const Note& other) { return other.text == note.text; };
      if (std::ranges::none_of(notes, is_same)) notes.push_back(std::move(note));
    }
  }
  for (const std::string& column : left_out) add_note(notes, NoteKind::kReading, "Not compared: {}.", column);
  append_provenance(notes, table);
  return notes;
}

PrintedColumn column_of(const EncodingLabel& encoding) {
  return {.title = encoding.form.text(), .settings = encoding.settings_text()};
}

void add_data(DataTable& data, const Comparison& comparison, const ComparedTask& task) {
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
      {"other_seeds", static_cast<std::int64_t>(task.other_seeds)},
      {"paired", std::string(task.paired ? "yes" : "no")},
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
  if (comparison.unit == ComparisonUnit::kWindow) {
    values.emplace_back("windows", static_cast<std::int64_t>(task.windows));
    values.emplace_back("documents", static_cast<std::int64_t>(task.documents));
  }
  data.add_row(values);
}

Table table_of(const std::vector<Comparison>& comparisons, const std::vector<std::string>& left_out,
               bool against_all, const ResultTable& table) {
  const Comparison& first = comparisons.front();
  const std::vector<Note> shared_notes = notes_of(comparisons, left_out, against_all, table);
  const bool are_windows = first.unit == ComparisonUnit::kWindow;
  std::set<Metric::Source> sources;
  for (const Comparison& comparison : comparisons) {
    for (const ComparedTask& task : comparison.tasks) sources.insert(task.metric.source);
  }
  const auto foot = [&](bool plain) {
    std::vector<Note> notes = {{NoteKind::kReading, difference_units(sources, plain)}};
    notes.insert(notes.end(), shared_notes.begin(), shared_notes.end());
    return notes;
  };
  const bool is_paired = std::ranges::all_of(comparisons, &Comparison::paired);
  Table result{
      .title = fmt::format("{} minus {} in the experiment {}, {}.", first.one.text(),
                           against_all ? "every other column" : first.other.text(), table.name,
                           are_windows   ? "paired over windows"
                           : is_paired   ? "paired over seeds"
                           : against_all ? "paired over seeds where both are models of che"
                                         : "seeds not paired"),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "seeds"},
                              column_of(first.one),
                              against_all ? PrintedColumn{.title = "the other"} : column_of(first.other),
                              {.title = "difference"},
                              {.title = "95 % interval"},
                              {.title = "p"},
                              {.title = "p (Holm)"},
                              {.title = "80 % power"}},
                  .notes = foot(false)},
      .data = {.notes = foot(true)}};
  if (are_windows) result.printed.columns.insert(result.printed.columns.begin() + 2, {.title = "windows"});
  if (is_by_length(first)) {
    result.printed.columns.insert(result.printed.columns.begin() + 1, {.title = "length"});
  }
  if (against_all) {
    result.printed.columns.insert(result.printed.columns.begin() + 1, {.title = "minus", .number = false});
  }
  // The rows of a task stand together.
  for (const TableRow& row : table.rows) {
    for (const Comparison& comparison : comparisons) {
      for (const ComparedTask& task : comparison.tasks) {
        if (task.task != row.task) continue;
        result.printed.rows.push_back(
            print_row(task, against_all ? comparison.other.text() : "", comparison.unit));
        add_data(result.data, comparison, task);
      }
    }
  }
  return result;
}

}  // namespace

Table comparison_table(const Comparison& comparison, const ResultTable& table) {
  return table_of({comparison}, {}, false, table);
}

Table comparison_table(const ComparedWithAll& compared, const ResultTable& table) {
  return table_of(compared.comparisons, compared.left_out, true, table);
}

}  // namespace che
