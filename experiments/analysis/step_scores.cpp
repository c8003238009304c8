#include "experiments/analysis/step_scores.h"

namespace che {

std::map<std::int64_t, double> step_scores(const TableRun& run) {
  std::map<std::int64_t, double> scores;
  for (const auto& [step, rows] : run.at_steps) {
    if (const auto measured = score(rows, run.config)) scores[step] = *measured;
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
