#include "experiments/results/effects.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/number_text.h"
#include "experiments/plan/differences.h"

namespace che {
namespace {

constexpr const char* kLearningRate = "learning_rate";

// Scores by draw and learning rate.
using Repetitions = std::map<Repetition, double>;

// Repetitions by the value of a setting.
using Replicates = std::map<double, Repetitions>;

struct Matched {
  ScoresByValue scores;
  std::set<Repetition> repetitions;  // Those that every value has.
};

// Finds the most values that share a draw and learning rate, and their scores of all draws and rates that
// they share.
Matched matched(const Replicates& replicates) {
  std::map<Repetition, std::set<double>> values_of;
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

// Returns the numbers that decide what a run learns, except its seeds.
std::map<std::string, double> numbers_of(const RunConfig& config) {
  std::map<std::string, double> numbers;
  for (const auto& [path, field] : settings_by_path(config)) {
    const bool learns = field.role == Role::kCell || field.role == Role::kRepetition;
    if (!learns || !field.number || path == "seed" || path == "data_seed") continue;
    if (const auto value = parse_real(field.value)) numbers.emplace(path, *value);
  }
  return numbers;
}

EncodingLabel label_without(EncodingLabel label, const std::string& path) {
  std::erase_if(label.settings, [&](const SettingValue& setting) { return setting.path == path; });
  return label;
}

constexpr std::string_view kDapePrefix = "encoding.dape.";

// Returns the scores of the encoding `label` without DAPE and its settings, at these repetitions.
std::vector<double> scores_without_dape(const ResultTable& table, const TaskLabel& task, EncodingLabel label,
                                        const std::set<Repetition>& repetitions) {
  label = dape_host(std::move(label));
  std::vector<double> scores;
  for (const TableRun& run : table.runs) {
    if (!run.score || run.task != task || run.encoding != label) continue;
    if (repetitions.contains(table.repetition(run))) scores.push_back(*run.score);
  }
  return scores;
}

}  // namespace

EncodingLabel dape_host(EncodingLabel label) {
  label.form.dape = false;
  std::erase_if(label.settings,
                [](const SettingValue& setting) { return setting.path.starts_with(kDapePrefix); });
  return label;
}

std::vector<SettingEffect> setting_effects(const ResultTable& table) {
  std::map<std::string, std::map<TaskLabel, std::map<EncodingLabel, Replicates>>> replicates_of;  // By path.
  for (const TableRun& run : table.runs) {
    if (!run.score) continue;
    for (const auto& [path, value] : numbers_of(run.config)) {
      Repetition repetition = table.repetition(run);
      if (path == kLearningRate) repetition.second = 0;
      replicates_of[path][run.task][label_without(run.encoding, path)][value][repetition] = *run.score;
    }
  }
  std::vector<SettingEffect> effects;
  for (const auto& [path, tasks] : replicates_of) {
    SettingEffect effect{.path = path, .scores = {}, .without_dape = {}};
    for (const auto& [task, labels] : tasks) {
      for (const auto& [label, replicates] : labels) {
        auto [scores, repetitions] = matched(replicates);
        if (scores.size() < 2) continue;
        effect.scores[task][label] = std::move(scores);
        if (!path.starts_with(kDapePrefix)) continue;
        std::vector<double> without = scores_without_dape(table, task, label, repetitions);
        if (without.size() == repetitions.size()) effect.without_dape[task][label] = std::move(without);
      }
    }
    if (!effect.scores.empty()) effects.push_back(std::move(effect));
  }
  return effects;
}

std::map<std::int64_t, double> step_scores(const TableRun& run) {
  std::map<std::int64_t, double> scores;
  for (const auto& [step, rows] : run.at_steps()) {
    // A score at a step counts the lengths that the run's own score counts.
    std::vector<EvaluationRow> counted = rows_of_any_length(rows, run.config);
    std::erase_if(counted, [&](const EvaluationRow& row) {
      return std::ranges::count(run.scored_lengths, row.length) == 0;
    });
    if (counted.size() < run.scored_lengths.size()) continue;
    if (const auto measured = mean_value(counted, run.metric)) scores[step] = *measured;
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
