#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/results/best_encodings.h"
#include "tables/notes.h"
#include "tables/units.h"

namespace che {
namespace {

constexpr const char* kComparedRuns =
    "`che compare` takes the learning rates and repetitions that two columns share";

// The numbers of finished runs of a row's cells that have any.
std::set<std::size_t> run_counts(const ResultTable& table, const TableRow& row) {
  std::set<std::size_t> counts;
  for (const EncodingLabel& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell != nullptr && cell->scores) counts.insert(cell->scores->n);
  }
  return counts;
}

const char* more_runs_text(const ResultTable& table) {
  return is_lowest_best(table) ? "the minimum over more runs is lower by chance"
                               : "the maximum over more runs is higher by chance";
}

}  // namespace

void append_unequal_runs_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate) {
  std::vector<std::string> counts_differ;
  std::vector<std::string> rates_differ;
  bool is_mean_fair = true;
  for (const TableRow& row : table.rows) {
    if (!have_like_rates(table, row, aggregate)) rates_differ.push_back(row.task.text());
    if (aggregate != Aggregate::kMax || run_counts(table, row).size() < 2) continue;
    counts_differ.push_back(row.task.text());
    is_mean_fair = is_mean_fair && have_like_rates(table, row, Aggregate::kMean);
  }
  if (!counts_differ.empty()) {
    add_note(notes, NoteKind::kReading, "Cells of a row have unequal numbers of runs ({}), and {}; {}.",
             fmt::join(counts_differ, ", "), more_runs_text(table),
             is_mean_fair ? "--aggregate mean does not depend on their number" : kComparedRuns);
  }
  if (!rates_differ.empty()) {
    add_note(notes, NoteKind::kReading,
             "Cells of a row have runs at other learning rates or other shares of them ({}), and {} depends "
             "on them; {}.",
             fmt::join(rates_differ, ", "), aggregate_phrase(table, aggregate), kComparedRuns);
  }
}

void append_unequal_rows_note(std::vector<Note>& notes, const ResultTable& table) {
  std::map<std::size_t, std::vector<std::string>> rows_by_count;
  for (const TableRow& row : table.rows) {
    const std::set<std::size_t> counts = run_counts(table, row);
    if (counts.size() > 1) return;  // Which the note on the row says.
    if (counts.size() == 1) rows_by_count[*counts.begin()].push_back(row.task.text());
  }
  if (rows_by_count.size() < 2) return;
  const std::size_t usual =
      std::ranges::max_element(rows_by_count, {}, [](const auto& rows) { return rows.second.size(); })->first;
  std::vector<std::string> parts;
  for (const auto& [count, rows] : rows_by_count) {
    if (count != usual) parts.push_back(fmt::format("{} for {}", count, fmt::join(rows, ", ")));
  }
  add_note(
      notes, NoteKind::kReading,
      "Rows have unequal numbers of runs (n = {}, {} for the others), and {}: compare {} of one row only.",
      fmt::join(parts, ", "), usual, more_runs_text(table), is_lowest_best(table) ? "minima" : "maxima");
}

}  // namespace che
