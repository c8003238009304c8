#include "experiments/paper_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv.h"
#include "experiments/display_order.h"

namespace che {

// data/paper/table2_che.csv, built into the program.
extern const char* const kPaperTableCsv;

namespace {

// Fractions by task, then by column.
using PaperTable = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;

PaperTable read_paper_table() {
  const std::vector<std::string> columns = {"level", "task",       "learned",     "sin_cos",
                                            "rope",  "relative",   "alibi",       "kerple",
                                            "fire",  "dape_alibi", "dape_kerple", "dape_fire"};
  const CsvRows rows("data/paper/table2_che.csv", kPaperTableCsv, columns, "restore it and build again");
  PaperTable table;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 2; column < columns.size(); ++column) {
      // Of a percentage with two decimals the nearest fraction with four.
      table[std::string(rows.text(row, 1))][columns[column]] =
          std::round(100 * rows.real(row, column)) / 10'000;
    }
  }
  return table;
}

const PaperTable& paper_table() {
  static const PaperTable table = read_paper_table();
  return table;
}

}  // namespace

std::string_view paper_column(std::string_view encoding) {
  constexpr std::string_view kRandomized = "randomized_";
  constexpr std::array<std::string_view, 4> kAmbiguous = {"sin_cos", "rope", "relative", "alibi"};
  if (!encoding.starts_with(kRandomized)) return encoding;
  const std::string_view wrapped = encoding.substr(kRandomized.size());
  return std::find(kAmbiguous.begin(), kAmbiguous.end(), wrapped) == kAmbiguous.end() ? encoding : wrapped;
}

std::optional<double> paper_score(std::string_view task, std::string_view encoding) {
  const auto row = paper_table().find(task);
  if (row == paper_table().end()) return std::nullopt;
  const auto value = row->second.find(paper_column(encoding));
  if (value == row->second.end()) return std::nullopt;
  return value->second;
}

std::vector<std::string> paper_best(std::string_view task) {
  const auto row = paper_table().find(task);
  if (row == paper_table().end()) return {};
  double greatest = 0;
  for (const auto& [column, value] : row->second) greatest = std::max(greatest, value);
  std::vector<std::string> best;
  for (const auto& [column, value] : row->second) {
    if (value == greatest) best.push_back(column);
  }
  std::ranges::sort(best, encoding_before);
  return best;
}

}  // namespace che
