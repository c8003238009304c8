#include "experiments/results/best_encodings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "experiments/results/result_table.h"

namespace che {

std::vector<WeakBest> BestEncodings::weaknesses() const {
  constexpr double kStandardErrors = 2;
  std::vector<WeakBest> found;
  if (scored > 1 && 2 * encodings.size() > scored) found.push_back(WeakBest::kTied);
  if (!measured_alike) found.push_back(WeakBest::kMeasuredUnalike);
  if (!rates_alike) found.push_back(WeakBest::kRatesUnalike);
  if (!passes_chance) found.push_back(WeakBest::kNotAboveChance);
  if (!has_trained) found.push_back(WeakBest::kDidNotTrain);
  if (above_trivial &&
      *above_trivial <= kStandardErrors * std::hypot(trivial_error.value_or(0), score_error)) {
    found.push_back(WeakBest::kTrivial);
  }
  return found;
}

namespace {

// Finds the encodings whose score has this place among the distinct scores of the row, from the best, 0.
BestEncodings encodings_at(std::size_t place, const ResultTable& table, const TableRow& row,
                           Aggregate aggregate) {
  std::vector<std::pair<EncodingLabel, double>> scores;
  std::vector<const TableCell*> cells;
  const Metric& metric = row.metric;
  std::set<double, std::greater<>> distinct;  // Gains.
  for (const EncodingLabel& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) continue;
    scores.emplace_back(encoding, cell->scores->value(aggregate));
    distinct.insert(metric.rank(scores.back().second));
    cells.push_back(cell);
  }
  BestEncodings best;
  best.measured_alike = are_measured_alike(table, cells);
  best.rates_alike = have_like_rates(table, row, aggregate);
  best.scored = scores.size();
  if (distinct.size() <= place) return best;
  const double rounded = *std::next(distinct.begin(), static_cast<std::ptrdiff_t>(place));
  std::optional<double> highest;  // Before rounding.
  for (const auto& [encoding, score] : scores) {
    if (metric.rank(score) != rounded) continue;
    highest = std::max(highest.value_or(metric.gain(score)), metric.gain(score));
    best.encodings.push_back(encoding);
    const TableCell& cell = *table.cell(row.task, encoding);
    best.has_trained = best.has_trained && !cell.did_not_train(aggregate);
    best.score_error = std::max(best.score_error, cell.score_error(aggregate).value_or(0));
  }
  best.passes_chance = !row.chance || *highest > metric.gain(*row.chance);
  if (row.baselines) {
    const Baseline& trivial = row.baselines->best();
    best.above_trivial = *highest - metric.gain(trivial.score);
    best.trivial_error = trivial.standard_error;
  }
  return best;
}

}  // namespace

bool have_like_rates(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  if (aggregate == Aggregate::kMax || table.select) return true;
  std::set<std::map<double, double>> shares;
  bool have_several = false;
  for (const EncodingLabel& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) continue;
    std::map<double, double> share;
    for (const std::size_t run : cell->finished) {
      const RunConfig& config = table.runs[run].config;
      if (!config.is_foreign()) ++share[config.learning_rate];
    }
    for (auto& [rate, count] : share) count /= static_cast<double>(cell->finished.size());
    have_several = have_several || share.size() > 1;
    if (!share.empty()) shares.insert(std::move(share));
  }
  return !have_several || shares.size() < 2;
}

BestEncodings best_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  return encodings_at(0, table, row, aggregate);
}

BestEncodings second_encodings(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  return encodings_at(1, table, row, aggregate);
}

}  // namespace che
