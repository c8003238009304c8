#include "experiments/paper_agreement.h"

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <functional>
#include <set>

#include "experiments/paired_test.h"
#include "experiments/paper_table.h"
#include "experiments/rank_correlation.h"

namespace che {
namespace {

std::vector<std::string> best_of(const std::vector<std::string>& labels, const std::vector<double>& scores) {
  std::vector<std::string> best;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (scores[i] == *std::ranges::max_element(scores)) best.push_back(labels[i]);
  }
  return best;
}

AgreedTask agree_on(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  std::vector<std::string> labels;
  std::vector<double> scores, papers;
  std::set<std::string, std::less<>> columns;
  for (const std::string& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores || !cell->paper) continue;
    const std::string label = table.runs[cell->best].config.encoding.label();
    if (!columns.emplace(paper_column(label)).second) continue;
    labels.push_back(encoding);
    scores.push_back(cell->scores->value(aggregate));
    papers.push_back(*cell->paper);
  }
  AgreedTask task{.level = row.level,
                  .task = row.task,
                  .encodings = labels.size(),
                  .best = best_of(labels, scores),
                  .paper_best = best_of(labels, papers),
                  .correlation = std::nullopt,
                  .p = std::nullopt,
                  .adjusted_p = std::nullopt};
  if (labels.size() >= kFewestRanked) task.correlation = spearman(scores, papers);
  if (task.correlation) task.p = rank_correlation_p(scores, papers);
  return task;
}

}  // namespace

PaperAgreement agree(const ResultTable& table, Aggregate aggregate) {
  PaperAgreement agreement;
  agreement.aggregate = aggregate;
  std::vector<double> correlations;
  std::vector<std::optional<double>> p_values;
  for (const TableRow& row : table.rows) {
    agreement.tasks.push_back(agree_on(table, row, aggregate));
    const AgreedTask& task = agreement.tasks.back();
    if (task.correlation) correlations.push_back(*task.correlation);
    p_values.push_back(task.p);
  }
  const auto adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < adjusted.size(); ++i) agreement.tasks[i].adjusted_p = adjusted[i];
  agreement.ranked = correlations.size();
  if (!correlations.empty()) agreement.mean = boost::math::statistics::mean(correlations);
  return agreement;
}

}  // namespace che
