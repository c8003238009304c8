#pragma once

#include "experiments/result_table.h"
#include "tables/table.h"

namespace che {

// A row a run, finished or not. Loss and accuracy in training are those of the last row of
// metrics.csv.
Table run_table(const ResultTable& table);

}  // namespace che
