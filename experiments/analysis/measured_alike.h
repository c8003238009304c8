#pragma once

#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Whether the runs of these cells of `table` are evaluated alike: same lengths, samples, seed and
// eval_dropout. Scores of cells that are not say nothing of each other.
bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

}  // namespace che
