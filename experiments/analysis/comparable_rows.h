#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

struct ComparableCell {
  EncodingLabel encoding;  // Of our column.
  const TableCell* cell = nullptr;
};

// Forms in the order of their texts.
struct ByText {
  bool operator()(const EncodingForm& one, const EncodingForm& other) const {
    return one.text() < other.text();
  }
};

// The cells of one row that the paper's values are compared with, by the paper's column. Of columns of ours
// that share one value of the paper (settings of one encoding) the first counts; encodings with other
// positions than the paper's never do.
struct ComparableRow {
  const TableRow* row = nullptr;                         // Of the table.
  std::map<EncodingForm, ComparableCell, ByText> cells;  // Those that have a score.
  // Labels that do not count because of one that does: pairs of both.
  std::vector<std::pair<EncodingLabel, EncodingLabel>> doubles;
};

// One per row of `table`, in its order; they point into it.
std::vector<ComparableRow> comparable_rows(const ResultTable& table);

}  // namespace che
