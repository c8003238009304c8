#include "experiments/plan/identity.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/config/field_list.h"
#include "core/number_text.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

constexpr const char* kModelKind = "model.kind";

// The fields of `roles` that are off their default, with one of their paths, sorted by their text.
std::vector<SettingValue> settings_of_roles(const RunConfig& config, const std::vector<Role>& roles,
                                            std::string FieldRecord::*path) {
  RunConfig defaults = defaults_of(config);
  defaults.encoding = config.encoding.with_identity_defaults();
  std::vector<SettingValue> settings;
  for (const FieldRecord& record : distinct_fields(fields_of(config), fields_of(std::as_const(defaults)))) {
    // Ids are older than kinds of models.
    if (record.path == kModelKind && record.value == ModelConfig().kind) continue;
    if (std::ranges::count(roles, record.role)) settings.push_back({record.*path, record.value});
  }
  std::ranges::sort(settings, {}, &SettingValue::text);
  return settings;
}

std::vector<SettingValue> identity_settings(const RunConfig& config, const std::vector<Role>& roles) {
  // Two ways of writing the same test lengths are no difference.
  RunConfig exact = config;
  exact.evaluation = with_exact_lengths(config.evaluation);
  return settings_of_roles(exact, roles, &FieldRecord::path);
}

std::string lines_of(const std::vector<SettingValue>& settings) {
  std::string lines;
  for (const SettingValue& setting : settings) lines += setting.text() + "\n";
  return lines;
}

// The text that an id hashes. It keeps the key paths that a field had when runs were first stored with it.
std::string hashed_fields(const RunConfig& config, const std::vector<Role>& roles) {
  return lines_of(settings_of_roles(config, roles, &FieldRecord::hashed_path));
}

// 12 hexadecimal digits. `format` changes whenever the text's meaning does.
std::string hash_text(std::string_view format, std::string_view text) {
  const std::string hashed = fmt::format("{}\n{}", format, text);
  return fmt::format("{:012x}", XXH3_64bits(hashed.data(), hashed.size()) >> 16);
}

using Settings = std::set<SettingValue>;

Settings without(const Settings& settings, const Settings& removed) {
  Settings rest;
  std::set_difference(settings.begin(), settings.end(), removed.begin(), removed.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

// Whether the label of a text's row says the setting at a path.
bool is_in_text_row(std::string_view path) {
  constexpr std::array kSaid = {"training.first_length",  "training.last_length",
                                "evaluation.lengths",     "evaluation.first_length",
                                "evaluation.last_length", "evaluation.length_step"};
  return std::ranges::any_of(kSaid, [&](const char* said) { return path == said; });
}

// Everything a cell's numbers depend on that its task's and its encoding's labels do not say.
Settings other_settings(const RunConfig& config, const std::vector<Role>& roles) {
  Settings settings;
  for (SettingValue& setting : identity_settings(config, roles)) {
    const bool is_in_label = is_below(setting.path, "task") || is_below(setting.path, "encoding") ||
                             is_below(setting.path, "text.name") || is_below(setting.path, "text.hash") ||
                             (config.has_text() && is_in_text_row(setting.path)) ||
                             (setting.path == kModelKind && !config.model.entry().takes_encoding) ||
                             (is_below(setting.path, "model") && config.is_foreign());
    if (!is_in_label) settings.insert(std::move(setting));
  }
  return settings;
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

// The key paths at which `runs` differ: not all of them have the path, or not with one value.
std::set<std::string> differing_paths(const std::vector<Settings>& runs) {
  std::map<SettingValue, std::size_t> holders;
  for (const Settings& settings : runs) {
    for (const SettingValue& setting : settings) ++holders[setting];
  }
  std::set<std::string> paths;
  for (const auto& [setting, count] : holders) {
    if (count < runs.size()) paths.insert(setting.path);
  }
  return paths;
}

// The paths at which some of `members`, the configs of one task, differ. A model outside che has no settings
// of training that could.
std::set<std::string> dividing_paths(const std::vector<RunConfig>& configs,
                                     const std::vector<Settings>& settings,
                                     const std::vector<std::size_t>& members) {
  std::vector<Settings> of_evaluation;
  std::vector<Settings> of_training;
  for (const std::size_t i : members) {
    Settings evaluation;
    Settings training;
    for (const SettingValue& setting : settings[i]) {
      if (setting.path == kEvaluationSeed) continue;
      (is_below(setting.path, "evaluation") ? evaluation : training).insert(setting);
    }
    of_evaluation.push_back(std::move(evaluation));
    if (!configs[i].is_foreign()) of_training.push_back(std::move(training));
  }
  std::set<std::string> paths = differing_paths(of_evaluation);
  paths.merge(differing_paths(of_training));
  return paths;
}

// Names of declared tasks that stand for several definitions.
std::set<std::string> ambiguous_tasks(const std::vector<RunConfig>& configs) {
  std::map<std::string, std::string> definitions;
  std::set<std::string> ambiguous;
  for (const RunConfig& config : configs) {
    if (config.has_text()) continue;
    const auto [first, is_new] = definitions.emplace(config.task.name, config.task.definition);
    if (first->second != config.task.definition) ambiguous.insert(config.task.name);
  }
  return ambiguous;
}

}  // namespace

std::string model_name(const RunConfig& config) {
  const std::string column = config.column_form().text();
  const bool is_named = config.model.entry().takes_encoding && config.model.kind != ModelConfig().kind;
  return is_named ? config.model.kind + "-" + column : column;
}

std::string identity_text(const RunConfig& config, const std::vector<Role>& roles) {
  return lines_of(identity_settings(config, roles));
}

std::string run_id(const RunConfig& config) {
  const std::string rate = config.is_foreign() ? "" : fmt::format("lr{}-", real_text(config.learning_rate));
  return fmt::format("{}-{}-{}seed{}-{}", config.subject(), model_name(config), rate, config.seed,
                     hash_text("che-run-1", hashed_fields(config, {Role::kCell, Role::kRepetition})));
}

std::string cell_id(const RunConfig& config) {
  return fmt::format("{}-{}-{}", config.subject(), model_name(config),
                     hash_text("che-cell-1", hashed_fields(config, {Role::kCell})));
}

CellLabels label_cells(const std::vector<RunConfig>& configs, const std::vector<Role>& roles) {
  std::vector<Settings> settings;
  settings.reserve(configs.size());
  for (const RunConfig& config : configs) settings.push_back(other_settings(config, roles));
  const Settings shared = shared_by(configs, settings);
  const std::set<std::string> ambiguous = ambiguous_tasks(configs);
  CellLabels labels;
  std::map<TaskLabel, std::vector<std::size_t>> rows;
  labels.of.reserve(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    CellKey& key = labels.of.emplace_back(
        CellKey{.task = configs[i].row_label(), .encoding = configs[i].column_label()});
    if (!configs[i].has_text() && ambiguous.contains(key.task.name)) key.task = configs[i].task.own_label();
    rows[key.task].push_back(i);
  }
  std::set<std::string> dividing;
  for (const auto& [task, members] : rows) dividing.merge(dividing_paths(configs, settings, members));
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

std::string own_content(const RunConfig& config) {
  if (config.has_text()) return "corpus " + config.text.hash;
  return config.task.is_declared() ? "definition " + definition_digest(config.task.definition) : "";
}

std::string job_key(RunConfig config) {
  config.seed = 0;
  config.learning_rate = RunConfig{}.learning_rate;
  return to_yaml(config);
}

bool share_a_job(const RunConfig& one, const RunConfig& other) { return job_key(one) == job_key(other); }

std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs) {
  std::vector<std::vector<std::size_t>> jobs;
  std::map<std::string, std::size_t> open_job;  // The last job of each key.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [place, is_new] = open_job.try_emplace(job_key(runs[i]), jobs.size());
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(1, runs[i].execution.replicas));
    if (!is_new && jobs[place->second].size() == limit) place->second = jobs.size();
    if (place->second == jobs.size()) jobs.emplace_back();
    jobs[place->second].push_back(i);
  }
  return jobs;
}

}  // namespace che
