#pragma once

#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Whether the runs of these cells of `table` are measured at the same lengths, on the same samples. Scores of
// cells that are not say nothing of each other.
bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

}  // namespace che
