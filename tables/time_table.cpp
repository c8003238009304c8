#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/results/columns.h"
#include "experiments/statistics/score_summary.h"
#include "tables/formats/table.h"
#include "tables/result_tables.h"

namespace che {
namespace {

constexpr const char* kUsualBase = "dape_kerple";

std::string lengths_text(const LengthRange& lengths) {
  const auto& [first, last, step, listed] = lengths;
  if (!listed.empty()) return fmt::format("{}", fmt::join(listed, ", "));
  if (first == last) return fmt::format("{}", first);
  return step == 1 ? fmt::format("{}..{}", first, last) : fmt::format("{}..{} by {}", first, last, step);
}

// Milliseconds to four digits, of which three may stand behind the point, and never as a power of ten.
std::string time_text(double time) {
  int decimals = 3;
  for (double limit = 10; decimals > 0 && time >= limit - 0.5 * std::pow(10, -decimals); limit *= 10)
    --decimals;
  return fmt::format("{:.{}f}", time, decimals);
}

std::optional<double> median_of(const RunTimes& times, const EncodingLabel& label,
                                const LengthRange& lengths) {
  const auto row = times.find(label);
  if (row == times.end()) return std::nullopt;
  const auto found = row->second.find(lengths);
  if (found == row->second.end()) return std::nullopt;
  return aggregate_of(found->second, Aggregate::kMedian);
}

// Returns nothing if no run was timed.
std::optional<Table> times_table(std::string title, const StepTimes& all, const RunTimes& times,
                                 const EncodingLabel& base) {
  if (times.empty()) return std::nullopt;
  std::set<LengthRange> columns;
  for (const auto& [label, cells] : times) {
    for (const auto& [lengths, unused] : cells) columns.insert(lengths);
  }
  PrintedTable table{.group_title = "", .columns = {{.title = "encoding", .number = false}}, .notes = {}};
  for (const LengthRange& lengths : columns) table.columns.push_back({.title = lengths_text(lengths)});
  for (const EncodingLabel& label : all.encodings) {
    if (!times.contains(label)) continue;
    PrintedRow& row = table.rows.emplace_back();
    row.cells.push_back({.text = label.text()});
    for (const LengthRange& lengths : columns) {
      const std::optional<double> time = median_of(times, label, lengths);
      const std::optional<double> of_base = median_of(times, base, lengths);
      PrintedCell& cell = row.cells.emplace_back(number_cell(time, time_text));
      if (time && of_base) cell.suffix = fmt::format(" ({:.2f})", *time / *of_base);
    }
  }
  return Table{.title = std::move(title), .printed = std::move(table)};
}

// The times behind one number of the tables.
struct TimedCell {
  const TaskLabel& task;
  bool is_step;  // A training step, else a test batch.
  const EncodingLabel& label;
  const LengthRange& lengths;
  const std::vector<double>& runs;
  std::optional<double> base;  // Median of the base column, for the same lengths.
};

std::vector<TimedCell> timed_cells(const StepTimes& times, const EncodingLabel& base) {
  std::vector<TimedCell> cells;
  for (const auto& [task, of_task] : times.tasks) {
    for (const bool is_step : {true, false}) {
      const RunTimes& measured = is_step ? of_task.step : of_task.batch;
      for (const EncodingLabel& label : times.encodings) {
        const auto row = measured.find(label);
        if (row == measured.end()) continue;
        for (const auto& [lengths, runs] : row->second) {
          cells.push_back({.task = task,
                           .is_step = is_step,
                           .label = label,
                           .lengths = lengths,
                           .runs = runs,
                           .base = median_of(measured, base, lengths)});
        }
      }
    }
  }
  return cells;
}

// Counts the numbers whose runs differ more than twofold, and names the one whose runs differ most.
std::string unsteady_text(const std::vector<TimedCell>& cells) {
  constexpr double kUnsteady = 2;
  std::size_t numbers = 0;
  std::size_t unsteady = 0;
  double widest = kUnsteady;
  std::string worst;
  for (const TimedCell& cell : cells) {
    const auto [least, most] = std::ranges::minmax(cell.runs);
    if (cell.runs.size() < 2 || least <= 0) continue;
    ++numbers;
    unsteady += most > kUnsteady * least ? 1U : 0U;
    if (most <= widest * least) continue;
    widest = most / least;
    worst = fmt::format("{} {}, {} at {}: {} to {}", cell.task.text(), cell.label.text(),
                        cell.is_step ? "training step" : "test batch", lengths_text(cell.lengths),
                        time_text(least), time_text(most));
  }
  if (unsteady == 0) return "";
  return fmt::format(
      "Runs behind one number differ more than twofold in {} of {}; the largest difference: {}.", unsteady,
      counted(numbers, "number"), worst);
}

// One row per task, measurement, encoding and lengths.
DataTable time_data(const std::vector<TimedCell>& cells) {
  DataTable data;
  for (const TimedCell& cell : cells) {
    const double time = aggregate_of(cell.runs, Aggregate::kMedian);
    data.add_row({{"task", cell.task.text()},
                  {"measured", cell.is_step ? "training_step" : "test_batch"},
                  {"encoding", cell.label.text()},
                  {"first_length", cell.lengths.first},
                  {"last_length", cell.lengths.last},
                  {"length_step", cell.lengths.listed.empty() ? TableValue(cell.lengths.step) : TableValue()},
                  {"runs", static_cast<std::int64_t>(cell.runs.size())},
                  {"milliseconds", time},
                  {"ratio", cell.base ? TableValue(time / *cell.base) : TableValue()}});
  }
  return data;
}

// Returns the column that `base` names. Without a name it is the first of dape_kerple, else the first column.
EncodingLabel base_column(const StepTimes& times, const std::string& base) {
  const std::vector<EncodingLabel>& columns = times.encodings;
  if (base.empty()) {
    const auto usual =
        std::ranges::find(columns, kUsualBase, [](const EncodingLabel& label) { return label.form.text(); });
    return usual == columns.end() ? columns.front() : *usual;
  }
  return column_named(base,
                      {.columns = columns, .not_chosen = times.not_chosen, .unfinished = times.unfinished});
}

}  // namespace

std::string time_table(const StepTimes& times, const std::string& base, std::string_view format,
                       const TerminalStyle& style) {
  const EncodingLabel column = base_column(times, base);
  std::vector<std::string> notes = {fmt::format(
      "In parentheses: the ratio to {}. A number is the median over a cell's finished runs: of each its "
      "median step between two log lines, or the mean test batch of its evaluation.",
      column.text())};
  const std::vector<TimedCell> cells = timed_cells(times, column);
  if (!std::ranges::all_of(cells, [](const TimedCell& cell) { return cell.base.has_value(); })) {
    notes.push_back(
        fmt::format("A time without a ratio: {} has none of that task and these lengths.", column.text()));
  }
  if (std::string text = unsteady_text(cells); !text.empty()) notes.push_back(std::move(text));
  if (times.has_shared_jobs) {
    notes.emplace_back(
        "Runs of one job share their steps and test batches: the time of each is that of all of them.");
  }
  if (times.hardware.size() > 1) {
    notes.push_back(
        fmt::format("These are times of different processors, GPUs or settings of a GPU, which ratios "
                    "compare, too: {}.",
                    fmt::join(times.hardware, "; ")));
  }
  if (!times.with_earlier.empty()) {
    notes.push_back(fmt::format(
        "Other or unknown programs, processors or settings worked before on {}, and their times count, too: "
        "see `earlier` in the status.json of {}.",
        counted(times.with_earlier.size(), "run"), times.with_earlier.front()));
  }
  if (format == "csv" || format == "json") {
    Table table{.title = "Milliseconds per training step and test batch."};
    table.data = time_data(cells);
    for (std::string& note : notes) table.data.notes.push_back({NoteKind::kReading, std::move(note)});
    return format_table(table, format);
  }
  std::vector<Table> tables;
  const auto add = [&](std::string title, const RunTimes& of_task) {
    if (auto table = times_table(std::move(title), times, of_task, column))
      tables.push_back(*std::move(table));
  };
  for (const auto& [task, of_task] : times.tasks) {
    add(fmt::format("{}: milliseconds per training step, by training length", task.text()), of_task.step);
    add(fmt::format("{}: milliseconds per test batch of {}, by test length", task.text(), kEvaluationBatch),
        of_task.batch);
  }
  std::string text;
  // LaTeX has the notes below its last table; elsewhere they are paragraphs.
  const bool is_latex = format == "tex";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (is_latex && i + 1 == tables.size()) {
      for (const std::string& note : notes) {
        tables[i].printed.notes.push_back({NoteKind::kReading, note});
      }
    }
    if (!is_latex) text += tables[i].title + "\n\n";
    text += format_table(tables[i], format, style);
  }
  if (!is_latex) {
    for (const std::string& note : notes) text += note + "\n";
  }
  return text;
}

}  // namespace che
