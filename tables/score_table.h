#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

// Which of the paper's values stand next to ours.
enum class PaperValues {
  kNone,
  kComparable,  // Those of the same method, as far as the paper says.
  kAll,         // Also those of other positions, marked with kOtherMethodSign.
};

struct ScoreTableOptions {
  Aggregate aggregate = Aggregate::kMax;
  PaperValues paper = PaperValues::kNone;  // In parentheses.
  bool difference = false;                 // Ours minus the paper's comparable value, in parentheses too.
  bool spread = false;                     // See ScoreSummary::spread.
  // Where the scores of a row and column, both from 0, lead; nowhere unless given.
  std::function<std::string(std::size_t row, std::size_t column)> link = {};
};

// One row per task and one column per encoding, grouped by level: in percent, as people read it; unrounded
// fractions and one row per cell, as programs do. Trivial baselines are columns of their own where the
// rows have them.
Table score_table(const ResultTable& table, const ScoreTableOptions& options = {});

}  // namespace che
