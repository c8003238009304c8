#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// Scores, 0 .. 1, by the value of a setting.
using ScoresByValue = std::map<double, std::vector<double>>;

// A number of the config that an experiment varies with all else equal: learning_rate, encoding.dape.hidden,
// model.width.
struct SettingEffect {
  std::string path;
  // Scores of two values or more, by task and by label without this setting. The values of one label have the
  // same draws and learning rates; other values and runs are left out.
  std::map<TaskLabel, std::map<EncodingLabel, ScoresByValue>> scores;
  // For settings of DAPE: scores of the same encoding without DAPE, by the same task and label, at the
  // values' draws and learning rates, where it has them all.
  std::map<TaskLabel, std::map<EncodingLabel, std::vector<double>>> without_dape = {};
};

// Returns the column of the same encoding without DAPE and its settings.
EncodingLabel dape_host(EncodingLabel label);

// Returns every such number among the finished runs, by path.
std::vector<SettingEffect> setting_effects(const ResultTable& table);

// Scores of runs by the training step that they were measured at; see evaluation.at_steps.
using StepScores = std::map<std::int64_t, std::vector<double>>;

// Returns the scores of one run at each step at which all of its test lengths were measured. A finished run
// also has its last step.
std::map<std::int64_t, double> step_scores(const TableRun& run);

// Returns the scores of all runs of a cell.
StepScores step_scores(const ResultTable& table, const CellKey& cell);

}  // namespace che
