#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// Reasons why being the best, or the second, of a row means little.
enum class WeakBest {
  kTied,             // Most encodings have this score.
  kMeasuredUnalike,  // See are_measured_alike().
  kRatesUnalike,     // See have_like_rates().
  kNotAboveChance,
  kDidNotTrain,  // A cell with this score did not train.
  kTrivial,      // Within two standard errors of the best trivial baseline.
};

// The encodings that have the best score of a row, or the second.
struct BestEncodings {
  // Several if scores tie as they are printed; see Metric::rank.
  std::vector<EncodingLabel> encodings;
  std::size_t scored = 0;      // Encodings that have a score.
  bool measured_alike = true;  // See are_measured_alike().
  bool rates_alike = true;     // See have_like_rates().
  bool passes_chance = false;
  bool has_trained = true;  // True if every cell with this score trained.
  // Their score minus the best trivial baseline, and the standard error of the baseline, if it was measured.
  std::optional<double> above_trivial;
  std::optional<double> trivial_error;
  double score_error = 0;  // Largest standard error of their scores from the samples, 0 if unknown.

  // Returns nothing if they are worth a mark.
  std::vector<WeakBest> weaknesses() const;
  bool is_distinct() const { return weaknesses().empty(); }
};

// Whether this aggregate of a cell's runs compares cells of `row` fairly: the learning rates have the same
// shares of the runs in each, or each cell has one, or the aggregate is of the best run. The rates of models
// outside che are unknown and do not count.
bool have_like_rates(const ResultTable& table, const TableRow& row, Aggregate aggregate);

// Finds the best score of `row` in `table`.
BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);
// Finds the best score but for these. There may be none.
BestEncodings second_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate);

}  // namespace che
