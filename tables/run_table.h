#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

struct RunTableOptions {
  // Of the experiments' folders, for formats with links; empty for no links.
  std::vector<std::string> urls = {};
  bool reasons = true;  // Footnotes that say why runs have no score.
};

// One row per run, finished or not. Loss and accuracy in training are those of the last row of metrics.csv.
// With links, an encoding leads to the run's folder, a loss to its metrics.csv, a score to its
// evaluation.csv.
Table run_table(const ResultTable& table, const RunTableOptions& options = {});

}  // namespace che
