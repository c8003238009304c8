#include "experiments/paper_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv.h"

namespace che {

// data/paper/table2_che.csv, built into the program.
extern const char* const kPaperTableCsv;

namespace {

using PaperTable = std::map<std::pair<std::string, std::string>, double>;

PaperTable read_paper_table() {
  const std::vector<std::string> columns = {"level", "task",       "learned",     "sin_cos",
                                            "rope",  "relative",   "alibi",       "kerple",
                                            "fire",  "dape_alibi", "dape_kerple", "dape_fire"};
  const CsvRows rows("data/paper/table2_che.csv", kPaperTableCsv, columns, "restore it and build again");
  PaperTable table;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 2; column < columns.size(); ++column) {
      table[{std::string(rows.text(row, 1)), columns[column]}] = rows.real(row, column);
    }
  }
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
  static const PaperTable table = read_paper_table();
  const auto found = table.find({std::string(task), std::string(paper_column(encoding))});
  if (found == table.end()) return std::nullopt;
  return found->second;
}

}  // namespace che
