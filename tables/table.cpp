#include "tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/suggestion.h"
#include "tables/data_formats.h"
#include "tables/latex.h"
#include "tables/markdown.h"
#include "tables/terminal.h"

namespace che {

bool PrintedTable::marked() const {
  return std::ranges::any_of(rows, [](const PrintedRow& row) {
    return std::ranges::any_of(row.cells, [](const PrintedCell& cell) { return cell.mark != Mark::kNone; });
  });
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

TableValue table_value(const std::optional<double>& number) {
  if (number) return *number;
  return std::monostate();
}

std::string percent(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.1f}", 100 * fraction);
  return text == "-0.0" ? "+0.0" : text;
}

std::string p_text(double p) { return fmt::format("{:.3g}", p); }

PrintedCell number_cell(const std::optional<double>& number, std::string (*form)(double)) {
  return {.text = number ? form(*number) : kNoNumber, .value = number};
}

void mark_best(const std::vector<PrintedCell*>& cells) {
  const auto printed = [](double value) { return std::strtod(percent(value).c_str(), nullptr); };
  std::set<double, std::greater<>> distinct;
  std::size_t numbers = 0;
  for (const PrintedCell* cell : cells) {
    if (!cell->value) continue;
    distinct.insert(printed(*cell->value));
    ++numbers;
  }
  if (numbers < 2) return;
  for (PrintedCell* const cell : cells) {
    if (!cell->value) continue;
    const auto place = std::distance(distinct.begin(), distinct.find(printed(*cell->value)));
    if (place == 0) cell->mark = Mark::kBest;
    if (place == 1) cell->mark = Mark::kSecond;
  }
}

}  // namespace che
