#pragma once

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

// One row per finished run and measured test length, further lengths of `che evaluate` included. As data,
// every setting in which the runs differ is a column of its own, headed by its key path.
Table length_table(const ResultTable& table);

}  // namespace che
