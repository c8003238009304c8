#include "experiments/analysis/setting_effects.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/number_text.h"

namespace che {
namespace {

constexpr const char* kLearningRate = "learning_rate";

// Scores by value, then by draw and learning rate.
using Replicates = std::map<double, std::map<std::pair<Draw, double>, double>>;

// The most values that share a draw and learning rate, and their scores of all draws and rates that these
// share.
ScoresByValue matched(const Replicates& replicates) {
  std::map<std::pair<Draw, double>, std::set<double>> values_of;
  for (const auto& [value, scores] : replicates) {
    for (const auto& [replicate, score] : scores) values_of[replicate].insert(value);
  }
  const auto& [any, shared] =
      *std::ranges::max_element(values_of, {}, [](const auto& replicate) { return replicate.second.size(); });
  ScoresByValue matched;
  for (const auto& [replicate, values] : values_of) {
    if (!std::ranges::includes(values, shared)) continue;
    for (const double value : shared) matched[value].push_back(replicates.at(value).at(replicate));
  }
  return matched;
}

// The numbers that decide what a run learns, except its seeds.
std::map<std::string, double> numbers_of(const RunConfig& config) {
  std::map<std::string, double> numbers;
  for (const FieldRecord& field : list_fields(config)) {
    const bool learns = field.role == Role::kCell || field.role == Role::kReplica;
    if (!learns || !field.number || field.path == "seed" || field.path == "data_seed") continue;
    if (const auto value = parse_real(field.value)) numbers.emplace(field.path, *value);
  }
  return numbers;
}

EncodingLabel label_without(EncodingLabel label, const std::string& path) {
  std::erase_if(label.settings, [&](const SettingValue& setting) { return setting.path == path; });
  return label;
}

}  // namespace

std::vector<SettingEffect> setting_effects(const ResultTable& table) {
  // By path, task and label.
  std::map<std::string, std::map<TaskLabel, std::map<EncodingLabel, Replicates>>> found;
  for (const TableRun& run : table.runs) {
    if (!run.score) continue;
    for (const auto& [path, value] : numbers_of(run.config)) {
      const double rate = path == kLearningRate ? 0 : run.config.learning_rate;
      found[path][run.task][label_without(run.encoding, path)][value][{draw_of(run.config), rate}] =
          *run.score;
    }
  }
  std::vector<SettingEffect> effects;
  for (const auto& [path, tasks] : found) {
    SettingEffect effect{.path = path, .scores = {}};
    for (const auto& [task, labels] : tasks) {
      for (const auto& [label, replicates] : labels) {
        ScoresByValue scores = matched(replicates);
        if (scores.size() > 1) effect.scores[task][label] = std::move(scores);
      }
    }
    if (!effect.scores.empty()) effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace che
