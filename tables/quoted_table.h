#pragma once

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

// What the entries of `table` quote, one row per score, marked as quoted. It stands apart from the measured
// scores and is never ranked with them.
Table quoted_table(const ResultTable& table);

}  // namespace che
