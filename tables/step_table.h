#pragma once

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

// One row per task, encoding and step of training at which some run was measured, with the mean score of
// these runs: of the steps that evaluation.at_steps names, and of the last one.
Table step_table(const ResultTable& table);

}  // namespace che
