#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Which encodings have the highest score of a row.
struct BestEncodings {
  // Several where scores tie as percentages with one decimal (see rounded_percent).
  std::vector<EncodingLabel> encodings;
  std::size_t scored = 0;      // Encodings that have a score.
  bool measured_alike = true;  // Whether these are measured on the same samples.
  // By how much the highest score passes the best trivial baseline, and that one's standard error; nothing
  // without baselines.
  std::optional<double> above_trivial;
  std::optional<double> trivial_error;

  // False where most encodings tie, where they are not measured alike, and where the highest score is within
  // two standard errors of the best trivial baseline: to be the best means little there.
  bool is_distinct() const;
};

// Of the scores of `row` in `table`, one number per cell.
BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);

}  // namespace che
