#include "experiments/analysis/setting_effects.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/number_text.h"

namespace che {
namespace {

constexpr const char* kLearningRate = "learning_rate";

// Scores by draw and learning rate.
using Repetitions = std::map<std::pair<Draw, double>, double>;

// Those of each value.
using Replicates = std::map<double, Repetitions>;

struct Matched {
  ScoresByValue scores;
  std::set<std::pair<Draw, double>> repetitions;  // That every value has.
};

// The most values that share a draw and learning rate, and their scores of all draws and rates that these
// share.
Matched matched(const Replicates& replicates) {
  std::map<std::pair<Draw, double>, std::set<double>> values_of;
  for (const auto& [value, scores] : replicates) {
    for (const auto& [replicate, score] : scores) values_of[replicate].insert(value);
  }
  const auto& [any, shared] =
      *std::ranges::max_element(values_of, {}, [](const auto& replicate) { return replicate.second.size(); });
  Matched matched;
  for (const auto& [replicate, values] : values_of) {
    if (!std::ranges::includes(values, shared)) continue;
    matched.repetitions.insert(replicate);
    for (const double value : shared) matched.scores[value].push_back(replicates.at(value).at(replicate));
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

constexpr std::string_view kDapePrefix = "encoding.dape.";

// The scores of an encoding as `label` has it, but without DAPE and its settings, at these repetitions.
std::vector<double> scores_without_dape(const ResultTable& table, const TaskLabel& task, EncodingLabel label,
                                        const std::set<std::pair<Draw, double>>& repetitions) {
  label.form.dape = false;
  std::erase_if(label.settings,
                [](const SettingValue& setting) { return setting.path.starts_with(kDapePrefix); });
  std::vector<double> scores;
  for (const TableRun& run : table.runs) {
    if (!run.score || run.task != task || run.encoding != label) continue;
    if (repetitions.contains({draw_of(run.config), run.config.learning_rate})) scores.push_back(*run.score);
  }
  return scores;
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
    SettingEffect effect{.path = path, .scores = {}, .without_dape = {}};
    for (const auto& [task, labels] : tasks) {
      for (const auto& [label, replicates] : labels) {
        auto [scores, repetitions] = matched(replicates);
        if (scores.size() < 2) continue;
        effect.scores[task][label] = std::move(scores);
        if (!path.starts_with(kDapePrefix)) continue;
        std::vector<double> without = scores_without_dape(table, task, label, repetitions);
        if (!without.empty()) effect.without_dape[task][label] = std::move(without);
      }
    }
    if (!effect.scores.empty()) effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace che
