#include "tables/time_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/analysis/encoding_names.h"
#include "experiments/analysis/score_summary.h"
#include "tables/formats/table.h"

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

// Nothing where no run was timed.
std::optional<Table> times_table(std::string title, const StepTimes& all, const RunTimes& times,
                                 const EncodingLabel& base) {
  if (times.empty()) return std::nullopt;
  std::set<LengthRange> columns;
  for (const auto& [label, cells] : times) {
    for (const auto& [lengths, unused] : cells) columns.insert(lengths);
  }
  PrintedTable table{.group_title = "",
                     .columns = {{.title = "encoding", .number = false}},
                     .rows = {},
                     .footnotes = {},
                     .notes = {}};
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
  return Table{.title = std::move(title), .printed = std::move(table), .data = {}};
}

// Whether some time has none of `base` to be divided by.
bool has_unrelated_times(const StepTimes& times, const EncodingLabel& base) {
  for (const auto& [task, of_task] : times.tasks) {
    for (const RunTimes* const measured : {&of_task.step, &of_task.batch}) {
      for (const auto& [label, of_lengths] : *measured) {
        for (const auto& [lengths, unused] : of_lengths) {
          if (!median_of(*measured, base, lengths)) return true;
        }
      }
    }
  }
  return false;
}

// How many numbers stand for runs that differ more than twofold, and the one whose runs differ most.
std::string unsteady_text(const StepTimes& times) {
  constexpr double kUnsteady = 2;
  std::size_t numbers = 0;
  std::size_t unsteady = 0;
  double widest = kUnsteady;
  std::string worst;
  for (const auto& [task, of_task] : times.tasks) {
    for (const auto& [what, of_label] :
         {std::pair("training step", &of_task.step), {"test batch", &of_task.batch}}) {
      for (const auto& [label, of_lengths] : *of_label) {
        for (const auto& [lengths, of_runs] : of_lengths) {
          const auto [least, most] = std::ranges::minmax(of_runs);
          if (of_runs.size() < 2 || least <= 0) continue;
          ++numbers;
          unsteady += most > kUnsteady * least ? 1U : 0U;
          if (most <= widest * least) continue;
          widest = most / least;
          worst = fmt::format("{} {}, {} at {}: {} to {}", task.text(), label.text(), what,
                              lengths_text(lengths), time_text(least), time_text(most));
        }
      }
    }
  }
  if (unsteady == 0) return "";
  return fmt::format(
      "Runs behind one number differ more than twofold in {} of {}; the largest difference: {}.", unsteady,
      counted(numbers, "number"), worst);
}

// One row per task, measurement, encoding and lengths.
DataTable time_data(const StepTimes& times, const EncodingLabel& base) {
  DataTable data{.columns = {"task", "measured", "encoding", "first_length", "last_length", "length_step",
                             "runs", "milliseconds", "ratio"},
                 .rows = {}};
  for (const auto& [task, of_task] : times.tasks) {
    for (const auto& [measured, of_label] :
         {std::pair("training_step", &of_task.step), {"test_batch", &of_task.batch}}) {
      for (const EncodingLabel& label : times.encodings) {
        const auto found = of_label->find(label);
        if (found == of_label->end()) continue;
        for (const auto& [lengths, of_runs] : found->second) {
          const double time = aggregate_of(of_runs, Aggregate::kMedian);
          const std::optional<double> of_base = median_of(*of_label, base, lengths);
          data.rows.push_back({task.text(), std::string(measured), label.text(), lengths.first, lengths.last,
                               lengths.listed.empty() ? TableValue(lengths.step) : TableValue(),
                               static_cast<std::int64_t>(of_runs.size()), time,
                               table_value(of_base ? std::optional(time / *of_base) : std::nullopt)});
        }
      }
    }
  }
  return data;
}

// The column that `base` names; without a name the first of dape_kerple where it is there, else the first.
EncodingLabel base_column(const StepTimes& times, const std::string& base) {
  const std::vector<EncodingLabel>& columns = times.encodings;
  if (base.empty()) {
    const auto usual =
        std::ranges::find(columns, kUsualBase, [](const EncodingLabel& label) { return label.form.text(); });
    return usual == columns.end() ? columns.front() : *usual;
  }
  return column_named(
      base, {.columns = columns, .not_chosen = times.not_chosen, .unfinished = times.unfinished}, "--base");
}

}  // namespace

std::string time_table(const StepTimes& times, const std::string& base, std::string_view format,
                       const TerminalStyle& style) {
  const EncodingLabel column = base_column(times, base);
  std::vector<std::string> notes = {fmt::format(
      "In parentheses: the ratio to {}. A number is the median over a cell's finished runs: of each its "
      "median step between two log lines, or the mean test batch of its evaluation.",
      column.text())};
  if (has_unrelated_times(times, column)) {
    notes.push_back(
        fmt::format("A time without a ratio: {} has none of that task and these lengths.", column.text()));
  }
  if (std::string text = unsteady_text(times); !text.empty()) notes.push_back(std::move(text));
  if (times.has_shared_jobs) {
    notes.emplace_back(
        "Runs of one job share their steps and test batches: the time of each is that of all of them.");
  }
  if (format == "csv" || format == "json") {
    Table table{.title = "Milliseconds per training step and test batch.", .printed = {}, .data = {}};
    table.data = time_data(times, column);
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
