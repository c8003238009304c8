#include "experiments/plan/differences.h"

#include "experiments/plan/run_config.h"

namespace che {
namespace {

std::string value_at(const SettingsByPath& settings, const std::string& path) {
  const auto setting = settings.find(path);
  return setting == settings.end() ? "absent" : setting->second.value;
}

// Whether runs of other settings may lack it. Of `execution` only bf16 is left, which is a precision of its
// own.
bool may_be_absent(const FieldRecord& field) {
  return field.structural || field.path == "execution.precision";
}

}  // namespace

SettingsByPath settings_by_path(RunConfig config) {
  config.evaluation = with_exact_lengths(config.evaluation);
  SettingsByPath settings;
  for (FieldRecord& field : list_fields(config)) {
    if (field.role == Role::kExecution) continue;
    std::string path = field.path;
    settings.emplace(std::move(path), std::move(field));
  }
  return settings;
}

Differences differences(const std::vector<RunConfig>& runs, const std::vector<RunConfig>& others) {
  Differences known;
  std::vector<SettingsByPath> others_settings;
  std::set<std::string> known_parts;  // Key paths of settings that a run may lack.
  for (const RunConfig& other : others) {
    for (const auto& [path, field] : others_settings.emplace_back(settings_by_path(other))) {
      known[path].insert(field.value);
      if (may_be_absent(field)) known_parts.insert(path);
    }
  }
  for (const std::string& path : known_parts) {
    for (const SettingsByPath& settings : others_settings) known[path].insert(value_at(settings, path));
  }
  Differences result;
  for (const RunConfig& run : runs) {
    const SettingsByPath settings = settings_by_path(run);
    const auto is_new = [&](const std::string& path) {
      const auto values = known.find(path);
      if (values != known.end()) return !values->second.contains(value_at(settings, path));
      return may_be_absent(settings.at(path));
    };
    const auto compare = [&](const std::string& path) {
      const std::string name = path.substr(0, path.find('.')) + ".name";
      const bool follows_from_name = name != path && settings.contains(name) && is_new(name);
      if (!follows_from_name && is_new(path)) result[path].insert(value_at(settings, path));
    };
    for (const auto& [path, field] : settings) compare(path);
    for (const std::string& path : known_parts) {
      if (!settings.contains(path)) compare(path);
    }
  }
  return result;
}

std::vector<std::string> varied_paths(const std::vector<RunConfig>& runs) {
  Differences values;
  std::map<std::string, std::size_t> holders;
  for (const RunConfig& run : runs) {
    for (const auto& [path, field] : settings_by_path(run)) {
      values[path].insert(field.value);
      ++holders[path];
    }
  }
  std::vector<std::string> paths;
  for (const auto& [path, distinct] : values) {
    if (distinct.size() > 1 || holders.at(path) < runs.size()) paths.push_back(path);
  }
  return paths;
}

}  // namespace che
