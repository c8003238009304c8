#include "experiments/analysis/step_scores.h"

#include <algorithm>
#include <vector>

namespace che {

std::map<std::int64_t, double> step_scores(const TableRun& run) {
  std::map<std::int64_t, double> scores;
  for (const auto& [step, rows] : run.at_steps) {
    // A score at a step counts the lengths that the run's own score counts.
    std::vector<EvaluationRow> counted = rows_of_any_length(rows, run.config);
    std::erase_if(counted, [&](const EvaluationRow& row) {
      return std::ranges::count(run.scored_lengths, row.length) == 0;
    });
    if (counted.size() < run.scored_lengths.size()) continue;
    if (const auto measured = mean_accuracy(counted)) scores[step] = *measured;
  }
  if (run.score && !run.config.is_foreign()) scores[run.config.training.steps] = *run.score;
  return scores;
}

StepScores step_scores(const ResultTable& table, const CellKey& cell) {
  StepScores scores;
  for (const TableRun& run : table.runs) {
    if (run.task != cell.task || run.encoding != cell.encoding) continue;
    for (const auto& [step, measured] : step_scores(run)) scores[step].push_back(measured);
  }
  return scores;
}

}  // namespace che
