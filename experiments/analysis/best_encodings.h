#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Why to be the best of a row means little.
enum class WeakBest {
  kTied,             // Most encodings have the highest score.
  kMeasuredUnalike,  // See are_measured_alike().
  kNotAboveChance,
  kDidNotTrain,  // A cell with the highest score.
  kTrivial,      // Within two standard errors of the best trivial baseline.
};

// Which encodings have the highest score of a row.
struct BestEncodings {
  // Several where scores tie as percentages with one decimal (see rounded_percent).
  std::vector<EncodingLabel> encodings;
  std::size_t scored = 0;      // Encodings that have a score.
  bool measured_alike = true;  // See are_measured_alike().
  bool passes_chance = false;  // Whether the highest score does.
  bool has_trained = true;     // Whether every cell with it has.
  // By how much the highest score passes the best trivial baseline, and that one's standard error; nothing
  // without baselines.
  std::optional<double> above_trivial;
  std::optional<double> trivial_error;

  // Empty where the best is worth a mark.
  std::vector<WeakBest> weaknesses() const;
  bool is_distinct() const { return weaknesses().empty(); }
};

// Of the scores of `row` in `table`, one number per cell.
BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);

}  // namespace che
