#include "experiments/analysis/measured_alike.h"

#include <set>
#include <tuple>

namespace che {
namespace {

const TableRun& any_run(const ResultTable& table, const TableCell& cell) {
  return table.runs[cell.finished.empty() ? cell.missing.front() : cell.finished.front()];
}

// Those of the unfinished runs too: a repetition that is still to come does not make a column another one.
std::set<std::int64_t> seeds_of(const ResultTable& table, const TableCell& cell) {
  std::set<std::int64_t> seeds;
  for (const auto* runs : {&cell.finished, &cell.missing}) {
    for (const std::size_t i : *runs) seeds.insert(table.runs[i].config.evaluation.seed);
  }
  return seeds;
}

}  // namespace

bool are_pairs_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells) {
  std::set<std::tuple<std::vector<std::int64_t>, std::int64_t, bool>> measurements;
  for (const TableCell* const cell : cells) {
    const TableRun& run = any_run(table, *cell);
    measurements.emplace(run.scored_lengths, run.config.evaluation.samples,
                         run.config.evaluation.eval_dropout);
  }
  return measurements.size() <= 1;
}

bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells) {
  std::set<std::set<std::int64_t>> seeds;
  for (const TableCell* const cell : cells) seeds.insert(seeds_of(table, *cell));
  return seeds.size() <= 1 && are_pairs_measured_alike(table, cells);
}

}  // namespace che
