#include "experiments/analysis/comparable_rows.h"

namespace che {

std::vector<ComparableRow> comparable_rows(const ResultTable& table) {
  std::vector<ComparableRow> rows;
  rows.reserve(table.rows.size());
  for (const TableRow& row : table.rows) {
    ComparableRow& comparable = rows.emplace_back();
    comparable.row = &row;
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell == nullptr || !cell->scores || !cell->paper || !cell->paper->is_comparable) continue;
      const auto [counted, is_first] = comparable.cells.try_emplace(
          cell->paper->column, ComparableCell{.encoding = encoding, .cell = cell});
      if (!is_first) comparable.doubles.emplace_back(encoding, counted->second.encoding);
    }
  }
  return rows;
}

}  // namespace che
