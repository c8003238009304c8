#pragma once

#include "experiments/result_table.h"
#include "tables/table.h"

namespace che {

struct ScoreTableOptions {
  Aggregate aggregate = Aggregate::kMax;
  bool paper = false;       // The paper's value in parentheses.
  bool difference = false;  // Ours minus the paper's, likewise.
  bool spread = false;      // See ScoreSummary::spread.
};

// A row a task, a column an encoding, grouped by level: in percent, as people read it; unrounded
// fractions and a row a cell, as programs do. Trivial baselines are columns of their own where the
// rows have them.
Table score_table(const ResultTable& table, const ScoreTableOptions& options = {});

}  // namespace che
