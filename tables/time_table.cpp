#include "tables/time_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/counted.h"
#include "core/error.h"
#include "experiments/analysis/encoding_names.h"
#include "experiments/analysis/score_summary.h"
#include "tables/formats/table.h"

namespace che {
namespace {

std::string lengths_text(const LengthRange& lengths) {
  const auto& [first, last, step] = lengths;
  if (first == last) return fmt::format("{}", first);
  return step == 1 ? fmt::format("{}..{}", first, last) : fmt::format("{}..{} by {}", first, last, step);
}

// Milliseconds to four digits, and never as a power of ten.
std::string time_text(double time) {
  return time < 1000 ? fmt::format("{:.4g}", time) : fmt::format("{:.0f}", time);
}

std::optional<double> median_of(const RunTimes& times, const EncodingLabel& label,
                                const LengthRange& lengths) {
  const auto row = times.find(label);
  if (row == times.end()) return std::nullopt;
  const auto found = row->second.find(lengths);
  if (found == row->second.end()) return std::nullopt;
  return aggregate_of(found->second, Aggregate::kMedian);
}

// A heading and a table; nothing where no run was timed.
std::string times_table(const std::string& title, const StepTimes& all, const RunTimes& times,
                        const EncodingLabel& base) {
  if (times.empty()) return "";
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
  return fmt::format("{}\n\n{}", title, format_table({.title = title, .printed = table, .data = {}}, "md"));
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
      "Runs behind one number differ more than twofold in {} of {}; the largest difference: {}.\n", unsteady,
      counted(numbers, "number"), worst);
}

}  // namespace

std::string time_table(const StepTimes& times, const std::string& base) {
  const auto column = std::ranges::find(times.encodings, base, &EncodingLabel::text);
  if (column == times.encodings.end()) {
    throw Error(
        fmt::format("no finished run has the encoding '{}' to compare with; name another with --base{}", base,
                    known_encodings_hint(base, times.encodings)));
  }
  std::string text;
  for (const auto& [task, of_task] : times.tasks) {
    text += times_table(fmt::format("{}: milliseconds per training step, by training length", task.text()),
                        times, of_task.step, *column);
    text += times_table(
        fmt::format("{}: milliseconds per test batch of {}, by test length", task.text(), kEvaluationBatch),
        times, of_task.batch, *column);
  }
  text += fmt::format(
      "In parentheses: the ratio to {}. A number is the median over a cell's finished runs: of each its "
      "median step between two log lines, or the mean test batch of its evaluation.\n",
      base);
  text += unsteady_text(times);
  if (times.has_shared_jobs) {
    text += "Runs of one job share their steps and test batches: the time of each is that of all of them.\n";
  }
  return text;
}

}  // namespace che
