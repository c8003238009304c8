#include "experiments/analysis/best_encodings.h"

#include <algorithm>
#include <utility>

#include "experiments/analysis/measured_alike.h"

namespace che {

std::vector<WeakBest> BestEncodings::weaknesses() const {
  constexpr double kStandardErrors = 2;
  std::vector<WeakBest> found;
  if (scored > 1 && 2 * encodings.size() > scored) found.push_back(WeakBest::kTied);
  if (!measured_alike) found.push_back(WeakBest::kMeasuredUnalike);
  if (!passes_chance) found.push_back(WeakBest::kNotAboveChance);
  if (!has_trained) found.push_back(WeakBest::kDidNotTrain);
  if (above_trivial && *above_trivial <= kStandardErrors * trivial_error.value_or(0)) {
    found.push_back(WeakBest::kTrivial);
  }
  return found;
}

BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  std::vector<std::pair<EncodingLabel, double>> scores;
  std::vector<const TableCell*> cells;
  for (const EncodingLabel& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) continue;
    scores.emplace_back(encoding, cell->scores->value(aggregate));
    cells.push_back(cell);
  }
  BestEncodings best;
  best.measured_alike = are_measured_alike(table, cells);
  best.scored = scores.size();
  if (scores.empty()) return best;
  double highest = 0;
  for (const auto& [encoding, score] : scores) highest = std::max(highest, score);
  best.passes_chance = highest > row.chance;
  for (const auto& [encoding, score] : scores) {
    if (rounded_percent(score) != rounded_percent(highest)) continue;
    best.encodings.push_back(encoding);
    best.has_trained = best.has_trained && !table.cell(row.task, encoding)->did_not_train();
  }
  if (row.baselines) {
    const Baseline& trivial = row.baselines->best();
    best.above_trivial = highest - trivial.score;
    best.trivial_error = trivial.standard_error;
  }
  return best;
}

}  // namespace che
