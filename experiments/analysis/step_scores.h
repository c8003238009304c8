#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// The scores of runs by the step of training that they were measured at, see evaluation.at_steps.
using StepScores = std::map<std::int64_t, std::vector<double>>;

// The scores of one run: at each step on the way at which all of its test lengths were measured, and of a
// finished run at its last step. A run that still trains has the steps that it has passed.
std::map<std::int64_t, double> step_scores(const TableRun& run);

// Returns the scores of all runs of a cell.
StepScores step_scores(const ResultTable& table, const CellKey& cell);

}  // namespace che
