#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Why to be the best, or the second, of a row means little.
enum class WeakBest {
  kTied,             // Most encodings have this score.
  kMeasuredUnalike,  // See are_measured_alike().
  kNotAboveChance,
  kDidNotTrain,  // A cell with this score.
  kTrivial,      // Within two standard errors of the difference of the best trivial baseline.
};

// Which encodings have the highest score of a row, or the second.
struct BestEncodings {
  // Several where scores tie as percentages with one decimal (see rounded_percent).
  std::vector<EncodingLabel> encodings;
  std::size_t scored = 0;      // Encodings that have a score.
  bool measured_alike = true;  // See are_measured_alike().
  bool passes_chance = false;  // Whether their score does.
  bool has_trained = true;     // Whether every cell with it has.
  // By how much their score passes the best trivial baseline, and that one's standard error; nothing
  // without baselines.
  std::optional<double> above_trivial;
  std::optional<double> trivial_error;
  double score_error =
      0;  // The greatest standard error of their scores from the samples; 0 where it is unknown.

  // Empty where they are worth a mark.
  std::vector<WeakBest> weaknesses() const;
  bool is_distinct() const { return weaknesses().empty(); }
};

// Of the scores of `row` in `table`, one number per cell.
BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);
// The same of the highest score below that of the best; no encodings where there is none.
BestEncodings second_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);

}  // namespace che
