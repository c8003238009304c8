#include "experiments/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/suggestion.h"

namespace che {
namespace {

using Scores = std::map<std::pair<std::int64_t, double>, double>;  // By seed and learning rate.

Scores scores_of(const ResultTable& table, const TableCell& cell) {
  Scores scores;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    scores[{run.config.seed, run.config.learning_rate}] = *run.score;
  }
  return scores;
}

struct SeedSums {
  double one = 0;
  double other = 0;
  double rates = 0;
};

ComparedTask compare_cells(const ResultTable& table, const TableRow& row, const TableCell& one,
                           const TableCell& other, Aggregate aggregate) {
  ComparedTask result;
  result.level = row.level;
  result.task = row.task;
  const Scores others = scores_of(table, other);
  std::map<std::int64_t, SeedSums> seeds;
  std::size_t pairs = 0;
  for (const auto& [key, score] : scores_of(table, one)) {
    const auto counterpart = others.find(key);
    if (counterpart == others.end()) continue;
    ++pairs;
    SeedSums& sums = seeds[key.first];
    sums.one += score;
    sums.other += counterpart->second;
    sums.rates += 1;
  }
  result.unpaired = one.finished.size() + other.finished.size() - 2 * pairs;
  result.seeds = seeds.size();
  if (seeds.empty()) return result;
  std::vector<double> scores_one, scores_other, differences;
  for (const auto& [seed, sums] : seeds) {
    scores_one.push_back(sums.one / sums.rates);
    scores_other.push_back(sums.other / sums.rates);
    differences.push_back(scores_one.back() - scores_other.back());
  }
  result.one = aggregate_of(scores_one, aggregate);
  result.other = aggregate_of(scores_other, aggregate);
  result.difference = aggregate_of(differences, aggregate);
  if (seeds.size() > 1) result.p = sign_flip_p(differences, aggregate);
  if (seeds.size() >= kFewestIntervalPairs) result.interval = bootstrap_interval(differences, aggregate);
  return result;
}

void check_label(const ResultTable& table, const std::string& label) {
  if (std::find(table.encodings.begin(), table.encodings.end(), label) != table.encodings.end()) return;
  throw Error(fmt::format("'{}' is no encoding of this experiment{}", label,
                          known_names_hint(label, table.encodings)));
}

void adjust(std::vector<ComparedTask>& tasks) {
  std::vector<std::optional<double>> p_values;
  for (const ComparedTask& task : tasks) p_values.push_back(task.p);
  const auto adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].adjusted_p = adjusted[i];
}

}  // namespace

Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate) {
  if (aggregate == Aggregate::kMax) {
    throw Error(
        "the maximum over a cell's runs cannot be compared: it grows with their number and keeps nothing of "
        "the pairs; choose the aggregate mean, median or iqm");
  }
  check_label(table, one);
  check_label(table, other);
  if (one == other) throw Error(fmt::format("'{}' is compared with itself; name two encodings", one));
  Comparison comparison{.one = one, .other = other, .aggregate = aggregate, .tasks = {}};
  std::size_t pairs = 0;
  for (const TableRow& row : table.rows) {
    const TableCell* const cell = table.cell(row.task, one);
    const TableCell* const counterpart = table.cell(row.task, other);
    if (cell == nullptr || counterpart == nullptr) continue;
    comparison.tasks.push_back(compare_cells(table, row, *cell, *counterpart, aggregate));
    pairs += comparison.tasks.back().seeds;
  }
  if (pairs == 0) {
    throw Error(fmt::format(
        "{} and {} have no finished runs of one task, seed and learning rate; run both with the same", one,
        other));
  }
  adjust(comparison.tasks);
  return comparison;
}

}  // namespace che
