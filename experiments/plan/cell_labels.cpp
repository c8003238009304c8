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
  labels.of.reserve(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    CellKey& key = labels.of.emplace_back(
        CellKey{.task = configs[i].task.label(), .encoding = configs[i].column_label()});
    if (ambiguous.contains(key.task.name)) {
      const TaskDefinition definition = parse_task_definition(configs[i].task.definition, "definition");
      key.task.settings.push_back({.path = "task.definition", .value = definition.digest()});
    }
    std::ranges::copy(without(settings[i], shared), std::back_inserter(key.encoding.settings));
  }
  labels.shared_settings.assign(shared.begin(), shared.end());
  return labels;
}

}  // namespace che
