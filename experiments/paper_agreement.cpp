#include "experiments/paper_agreement.h"

#include <boost/math/statistics/univariate_statistics.hpp>
#include <map>

#include "experiments/paired_test.h"
#include "experiments/paper_table.h"
#include "experiments/rank_correlation.h"

namespace che {
namespace {

AgreedTask agree_on(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  AgreedTask task;
  task.level = row.level;
  task.task = row.task;
  std::vector<double> scores, papers;
  std::map<std::string, std::string> label_of_column;
  for (const std::string& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores || !cell->paper) continue;
    const std::string label = table.runs[cell->best].config.encoding.label();
    const auto [counted, is_first] = label_of_column.emplace(paper_column(label), encoding);
    if (!is_first) {
      task.doubles.emplace_back(encoding, counted->second);
      continue;
    }
    scores.push_back(cell->scores->value(aggregate));
    papers.push_back(*cell->paper);
  }
  task.encodings = scores.size();
  if (scores.size() >= kFewestRanked) task.correlation = spearman(scores, papers);
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
