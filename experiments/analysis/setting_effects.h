#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Scores, 0 .. 1, by the value of a setting.
using ScoresByValue = std::map<double, std::vector<double>>;

// A number of the config that an experiment varies with all else equal: learning_rate, encoding.dape.hidden,
// model.width.
struct SettingEffect {
  std::string path;
  // By task and by label without this setting; only of two values or more. The values of one label have the
  // same draws and learning rates; values and runs without these are left out.
  std::map<TaskLabel, std::map<EncodingLabel, ScoresByValue>> scores;
  // For settings of DAPE: by the same task and label the scores of the same encoding without DAPE, at the
  // draws and learning rates that it shares with the values; nothing where it has none.
  std::map<TaskLabel, std::map<EncodingLabel, std::vector<double>>> without_dape = {};
};

// Every such number among the finished runs, by path.
std::vector<SettingEffect> setting_effects(const ResultTable& table);

}  // namespace che
