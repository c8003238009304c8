#include "tables/formats/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/suggestion.h"
#include "tables/formats/formats.h"

namespace che {

bool PrintedTable::marked() const {
  return std::ranges::any_of(rows, [](const PrintedRow& row) {
    return std::ranges::any_of(row.cells, [](const PrintedCell& cell) { return cell.mark != Mark::kNone; });
  });
}

void DataTable::add_row(const std::vector<std::pair<const char*, TableValue>>& row) {
  std::vector<TableValue>& values = rows.emplace_back();
  for (const auto& [column, value] : row) {
    if (rows.size() == 1) columns.emplace_back(column);
    values.push_back(value);
  }
}

void choose_notes(Table& table, NoteChoice choice) {
  for (std::vector<Note>* notes : {&table.printed.notes, &table.data.notes}) {
    std::erase_if(*notes, [&](const Note& note) {
      const bool is_short = note.kind == NoteKind::kReading || note.kind == NoteKind::kPaper;
      return choice == NoteChoice::kNone || (choice == NoteChoice::kShort && !is_short);
    });
  }
}

const std::vector<std::string>& table_formats() {
  static const std::vector<std::string> formats = {"terminal", "md", "csv", "json", "tex"};
  return formats;
}

std::string format_table(const Table& table, std::string_view format, const TerminalStyle& style) {
  if (format == "terminal") return terminal_table(table.printed, style);
  if (format == "md") return markdown_table(table.printed);
  if (format == "csv") return csv_table(table.data);
  if (format == "json") return json_table(table);
  if (format == "tex") return latex_table(table);
  throw Error(fmt::format("unknown table format '{}'{}", format, known_names_hint(format, table_formats())));
}

std::string p_text(double p) { return fmt::format("{:.3g}", p); }

PrintedCell number_cell(const std::optional<double>& number, std::string (*form)(double)) {
  return {.text = number ? form(*number) : kNoNumber, .value = number};
}

PrintedCell number_cell(const std::optional<double>& value, const Metric& metric) {
  return {.text = value ? metric.format(*value) : kNoNumber, .value = value};
}

PrintedCell difference_cell(const std::optional<double>& difference, const Metric& metric) {
  return {.text = difference ? metric.format_difference(*difference) : kNoNumber, .value = difference};
}

void mark_best(const std::vector<PrintedCell*>& cells, const Metric& metric, bool with_second) {
  std::set<double, std::greater<>> distinct;
  std::size_t numbers = 0;
  for (const PrintedCell* cell : cells) {
    if (!cell->value) continue;
    distinct.insert(metric.rank(*cell->value));
    ++numbers;
  }
  if (numbers < 2) return;
  for (PrintedCell* const cell : cells) {
    if (!cell->value) continue;
    const auto place = std::distance(distinct.begin(), distinct.find(metric.rank(*cell->value)));
    if (place == 0) cell->mark = Mark::kBest;
    if (place == 1 && with_second) cell->mark = Mark::kSecond;
  }
}

}  // namespace che
