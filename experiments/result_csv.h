#pragma once

#include <string>

#include "experiments/result_table.h"

namespace che {

// A line a cell, unrounded, accuracies as fractions (0 .. 1), empty where there is no value:
// level,task,encoding,cell,runs,max,mean,sd,median,chance,paper.
std::string cells_csv(const ResultTable& table);

// A line a run, finished or not; loss and accuracy are those of the last row of metrics.csv.
std::string runs_csv(const ResultTable& table);

}  // namespace che
