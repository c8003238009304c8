#include "experiments/plan/cell_labels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/parallel.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

using Settings = std::set<SettingValue>;

Settings without(const Settings& settings, const Settings& removed) {
  Settings rest;
  std::set_difference(settings.begin(), settings.end(), removed.begin(), removed.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

Settings settings_of(const RunConfig& config, const std::vector<Role>& roles) {
  const std::vector<SettingValue> settings = identity_settings(config, roles);
  return {settings.begin(), settings.end()};
}

// Everything a cell's numbers depend on that its task's and its encoding's labels do not say.
Settings other_settings(const RunConfig& config, const std::vector<Role>& roles) {
  RunConfig labelled;
  labelled.task = config.task;
  labelled.foreign_model = config.foreign_model;
  labelled.encoding = config.encoding;
  return without(settings_of(config, roles), settings_of(labelled, roles));
}

// The settings that all of these have. A model outside che has none of training: it shares those of
// evaluation only, unless there are no others.
Settings shared_by(const std::vector<RunConfig>& configs, const std::vector<Settings>& settings) {
  const bool all_foreign = std::ranges::all_of(configs, &RunConfig::is_foreign);
  std::optional<Settings> shared;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (configs[i].is_foreign() && !all_foreign) continue;
    shared = shared ? without(*shared, without(*shared, settings[i])) : settings[i];
  }
  if (!shared) return {};
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (!configs[i].is_foreign()) continue;
    std::erase_if(*shared, [&](const SettingValue& setting) {
      return is_below(setting.path, "evaluation") && !settings[i].contains(setting);
    });
  }
  return *std::move(shared);
}

constexpr const char* kEvaluationSeed = "evaluation.seed";

// The paths at which some of `members`, the configs of one task, differ; a model outside che has no settings
// of training that could. A setting that is missing is at its default.
std::set<std::string> differing_paths(const std::vector<RunConfig>& configs,
                                      const std::vector<Settings>& settings,
                                      const std::vector<std::size_t>& members) {
  std::map<std::string, std::map<std::string, std::size_t>> holders;  // By path and value.
  for (const std::size_t i : members) {
    for (const SettingValue& setting : settings[i]) ++holders[setting.path][setting.value];
  }
  const auto foreign = static_cast<std::size_t>(
      std::ranges::count_if(members, [&](std::size_t i) { return configs[i].is_foreign(); }));
  std::set<std::string> differing;
  for (const auto& [path, values] : holders) {
    const std::size_t able = is_below(path, "evaluation") ? members.size() : members.size() - foreign;
    const bool is_one_value = values.size() == 1 && values.begin()->second == able;
    if (!is_one_value && path != kEvaluationSeed) differing.insert(path);
  }
  return differing;
}

// Names of declared tasks that stand for several definitions.
std::set<std::string> ambiguous_tasks(const std::vector<RunConfig>& configs) {
  std::map<std::string, std::string> definitions;
  std::set<std::string> ambiguous;
  for (const RunConfig& config : configs) {
    const auto [first, is_new] = definitions.emplace(config.task.name, config.task.definition);
    if (first->second != config.task.definition) ambiguous.insert(config.task.name);
  }
  return ambiguous;
}

}  // namespace

CellLabels label_cells(const std::vector<RunConfig>& configs, const std::vector<Role>& roles) {
  std::vector<Settings> settings(configs.size());
  for_each_index(configs.size(), [&](std::size_t i) { settings[i] = other_settings(configs[i], roles); });
  const Settings shared = shared_by(configs, settings);
  const std::set<std::string> ambiguous = ambiguous_tasks(configs);
  CellLabels labels;
  std::map<TaskLabel, std::vector<std::size_t>> rows;
  labels.of.reserve(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    CellKey& key = labels.of.emplace_back(
        CellKey{.task = configs[i].task.label(), .encoding = configs[i].column_label()});
    if (ambiguous.contains(key.task.name)) {
      const TaskDefinition definition = parse_task_definition(configs[i].task.definition, "definition");
      key.task.settings.push_back({.path = "task.definition", .value = definition.digest()});
    }
    rows[key.task].push_back(i);
  }
  std::set<std::string> dividing;
  for (const auto& [task, members] : rows) dividing.merge(differing_paths(configs, settings, members));
  for (std::size_t i = 0; i < configs.size(); ++i) {
    for (const SettingValue& setting : without(settings[i], shared)) {
      if (dividing.contains(setting.path)) labels.of[i].encoding.settings.push_back(setting);
    }
  }
  for (const auto& [task, members] : rows) {
    std::set<SettingValue> of_row;
    for (const std::size_t i : members) of_row.merge(without(settings[i], shared));
    std::erase_if(of_row, [&](const SettingValue& setting) {
      return dividing.contains(setting.path) || setting.path == kEvaluationSeed;
    });
    if (!of_row.empty()) labels.of_task[task].assign(of_row.begin(), of_row.end());
  }
  labels.shared_settings.assign(shared.begin(), shared.end());
  return labels;
}

}  // namespace che
