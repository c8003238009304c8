#pragma once

#include "experiments/analysis/comparison.h"
#include "tables/formats/table.h"

namespace che {

// One row per task, or per task and length; `table` is what was compared, for the notes.
Table comparison_table(const Comparison& comparison, const ResultTable& table);

}  // namespace che
