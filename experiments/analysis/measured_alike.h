#pragma once

#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Whether the runs of these cells of `table` are evaluated alike: same scored lengths, samples and
// eval_dropout, and the same set of evaluation seeds, of which repetitions may have one each. Scores of cells
// that are not say nothing of each other.
bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

// Does the same for runs that are paired over their evaluation seeds too, whose sets may differ.
bool are_pairs_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

}  // namespace che
