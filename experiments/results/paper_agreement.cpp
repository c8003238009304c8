#include "experiments/results/paper_agreement.h"

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "experiments/published/paper_table.h"
#include "experiments/statistics/permutation_tests.h"

namespace che {

std::vector<ComparableRow> comparable_rows(const ResultTable& table) {
  std::vector<ComparableRow> rows;
  rows.reserve(table.rows.size());
  for (const TableRow& row : table.rows) {
    ComparableRow& comparable = rows.emplace_back();
    comparable.row = &row;
    if (row.level == Level::kText) continue;
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell == nullptr || !cell->scores || !cell->paper || !cell->paper->is_comparable) continue;
      const auto [counted, is_first] = comparable.cells.try_emplace(
          cell->paper->column, ComparableCell{.encoding = encoding, .cell = cell});
      if (!is_first) comparable.doubles.emplace_back(encoding, counted->second.encoding);
    }
    std::vector<const TableCell*> cells;
    for (const auto& [column, counted] : comparable.cells) cells.push_back(counted.cell);
    comparable.measured_alike = are_measured_alike(table, cells);
    if (comparable.measured_alike) continue;
    comparable.cells.clear();
    comparable.doubles.clear();
  }
  return rows;
}

std::vector<PaperClaim> count_claims(const std::vector<ComparableRow>& rows, Aggregate aggregate) {
  std::vector<ClaimRow> claim_rows;
  for (const ComparableRow& row : rows) {
    if (!paper_score(row.row->task.name, paper_columns().front().form)) continue;
    ClaimRow& claim_row = claim_rows.emplace_back();
    claim_row.permutation_invariant = row.row->permutation_invariant;
    for (const auto& [column, comparable] : row.cells) {
      claim_row.scores[column] = {.value = comparable.cell->scores->value(aggregate),
                                  .trained = !comparable.cell->did_not_train(aggregate)};
    }
  }
  return count_claims(claim_rows);
}

namespace {

namespace statistics = boost::math::statistics;

// Returns the score of each seed of a cell, the aggregate of its runs.
std::map<std::int64_t, double> scores_of_seeds(const ResultTable& table, const TableCell& cell,
                                               Aggregate aggregate) {
  std::map<std::int64_t, std::vector<double>> runs;
  for (const std::size_t i : cell.finished) {
    runs[table.runs[i].config.seed].push_back(*table.runs[i].score);
  }
  std::map<std::int64_t, double> scores;
  for (const auto& [seed, values] : runs) scores[seed] = aggregate_of(values, aggregate);
  return scores;
}

// Fills in the correlations of single seeds. `papers` has the paper's values of the ranked cells, in their
// order.
void agree_by_seed(const ResultTable& table, const ComparableRow& row, const std::vector<double>& papers,
                   Aggregate aggregate, AgreedTask& task) {
  std::map<std::int64_t, std::vector<double>> scores;  // By seed, in the order of the cells.
  for (const auto& [column, comparable] : row.cells) {
    for (const auto& [seed, score] : scores_of_seeds(table, *comparable.cell, aggregate)) {
      scores[seed].push_back(score);
    }
  }
  std::erase_if(scores, [&](const auto& entry) { return entry.second.size() < papers.size(); });
  for (const auto& [seed, values] : scores) {
    task.of_seeds[seed] = spearman(values, papers);
  }
  std::vector<double> between;
  for (auto one = scores.begin(); one != scores.end(); ++one) {
    for (auto other = std::next(one); other != scores.end(); ++other) {
      if (const auto correlation = spearman(one->second, other->second)) between.push_back(*correlation);
    }
  }
  if (!between.empty()) task.between_seeds = statistics::mean(between);
}

AgreedTask agree_on(const ResultTable& table, const ComparableRow& comparable, Aggregate aggregate) {
  AgreedTask task;
  task.level = comparable.row->level;
  task.task = comparable.row->task;
  task.permutation_invariant = comparable.row->permutation_invariant;
  task.doubles = comparable.doubles;
  task.measured_alike = comparable.measured_alike;
  std::vector<double> scores, papers;
  for (const auto& [column, counted] : comparable.cells) {
    scores.push_back(counted.cell->scores->value(aggregate));
    papers.push_back(counted.cell->paper->score);
  }
  task.encodings = scores.size();
  if (scores.size() < kMinRanked) return task;
  task.correlation = spearman(scores, papers);
  if (task.correlation) task.p = rank_correlation_p({{scores, papers}});
  agree_by_seed(table, comparable, papers, aggregate, task);
  return task;
}

std::optional<JointAgreement> agree_jointly(const std::vector<ComparableRow>& rows,
                                            const std::vector<AgreedTask>& tasks, Aggregate aggregate) {
  std::map<EncodingForm, std::size_t, ByText> holders;
  std::vector<const ComparableRow*> ranked;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!tasks[i].correlation) continue;
    ranked.push_back(&rows[i]);
    for (const auto& [column, counted] : rows[i].cells) ++holders[column];
  }
  JointAgreement joint;
  std::vector<RankedPair> pairs;
  for (const ComparableRow* const row : ranked) {
    RankedPair pair;
    for (const auto& [column, counted] : row->cells) {
      if (holders.at(column) < ranked.size()) continue;
      pair.x.push_back(counted.cell->scores->value(aggregate));
      pair.y.push_back(counted.cell->paper->score);
    }
    const auto correlation = pair.x.size() < kMinRanked ? std::nullopt : spearman(pair.x, pair.y);
    if (!correlation) {
      joint.tied.push_back(row->row->task);
      continue;
    }
    joint.mean += *correlation;
    pairs.push_back(std::move(pair));
  }
  if (pairs.size() < 2) return std::nullopt;
  joint.encodings = pairs.front().x.size();
  joint.mean /= static_cast<double>(pairs.size());
  joint.p = rank_correlation_p(pairs);
  return joint;
}

}  // namespace

std::optional<bool> AgreedTask::agrees() const {
  if (of_seeds.size() < 2) return std::nullopt;
  return std::ranges::all_of(of_seeds, [](const auto& entry) { return entry.second.value_or(0) > 0; });
}

PaperAgreement agree(const ResultTable& table, Aggregate aggregate) {
  PaperAgreement agreement;
  agreement.aggregate = aggregate;
  std::vector<double> correlations;
  std::vector<std::optional<double>> p_values;
  const std::vector<ComparableRow> rows = comparable_rows(table);
  for (const ComparableRow& row : rows) {
    agreement.tasks.push_back(agree_on(table, row, aggregate));
    const AgreedTask& task = agreement.tasks.back();
    if (task.correlation) correlations.push_back(*task.correlation);
    p_values.push_back(task.p);
  }
  const auto adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < adjusted.size(); ++i) agreement.tasks[i].adjusted_p = adjusted[i];
  agreement.joint = agree_jointly(rows, agreement.tasks, aggregate);
  agreement.ranked = correlations.size();
  if (!correlations.empty()) agreement.mean = statistics::mean(correlations);
  agreement.claims = count_claims(rows, aggregate);
  return agreement;
}

}  // namespace che
