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

// Warns of means and medians over runs at unequal learning rates.
void append_unequal_rates_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate) {
  std::vector<std::string> uneven;
  for (const TableRow& row : table.rows) {
    if (!have_like_rates(table, row, aggregate)) uneven.push_back(row.task.text());
  }
  if (uneven.empty()) return;
  add_note(notes, NoteKind::kReading,
           "Cells of a row have runs at other learning rates or other shares of them ({}), and {} depends on "
           "them; `che compare` takes the rates and repetitions that two columns share.",
           fmt::join(uneven, ", "), aggregate_phrase(table, aggregate));
}

// Warns of maxima over unequal numbers of runs, within rows or else between them.
void append_unequal_counts_note(std::vector<Note>& notes, const ResultTable& table) {
  std::map<TaskLabel, std::set<std::size_t>> counts_of;
  for (const auto& [row, encoding, cell] : cells_by_row(table)) {
    if (cell->scores) counts_of[row->task].insert(cell->scores->n);
  }
  std::vector<std::string> uneven;
  bool is_mean_fair = true;
  std::map<std::size_t, std::vector<std::string>> rows_by_count;
  for (const TableRow& row : table.rows) {
    const std::set<std::size_t>& counts = counts_of[row.task];
    if (counts.size() > 1) {
      uneven.push_back(row.task.text());
      is_mean_fair = is_mean_fair && have_like_rates(table, row, Aggregate::kMean);
    }
    if (counts.size() == 1) rows_by_count[*counts.begin()].push_back(row.task.text());
  }
  const char* const chance = is_lowest_best(table) ? "the minimum over more runs is lower by chance"
                                                   : "the maximum over more runs is higher by chance";
  if (!uneven.empty()) {
    add_note(notes, NoteKind::kReading, "Cells of a row have unequal numbers of runs ({}), and {}; {}.",
             fmt::join(uneven, ", "), chance,
             is_mean_fair ? "--aggregate mean does not depend on their number"
                          : "`che compare` takes the learning rates and repetitions that two columns share");
  } else if (rows_by_count.size() > 1) {
    const std::size_t usual = std::ranges::max_element(rows_by_count, {}, [](const auto& rows) {
                                return rows.second.size();
                              })->first;
    std::vector<std::string> parts;
    for (const auto& [count, rows] : rows_by_count) {
      if (count != usual) parts.push_back(fmt::format("{} for {}", count, fmt::join(rows, ", ")));
    }
    add_note(
        notes, NoteKind::kReading,
        "Rows have unequal numbers of runs (n = {}, {} for the others), and {}: compare {} of one row only.",
        fmt::join(parts, ", "), usual, chance, is_lowest_best(table) ? "minima" : "maxima");
  }
}

}  // namespace

void append_unequal_runs_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate) {
  if (aggregate == Aggregate::kMax) append_unequal_counts_note(notes, table);
  append_unequal_rates_note(notes, table, aggregate);
}

}  // namespace che
