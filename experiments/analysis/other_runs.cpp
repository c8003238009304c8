#include "experiments/analysis/other_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <system_error>

#include "core/config/field_list.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

constexpr std::size_t kMaxPaths = 5;    // That one line names.
constexpr std::size_t kMaxValues = 3;   // Of each.
constexpr std::size_t kMaxLength = 40;  // Of a value.

struct Settings {
  std::map<std::string, std::string> values;  // By key path.
  // The key paths of what a run may lack as a whole, such as encoding.dape.
  std::set<std::string> parts;

  std::string at(const std::string& path) const {
    const auto found = values.find(path);
    return found == values.end() ? "absent" : found->second;
  }
};

// The settings that change results or tell repetitions apart.
Settings settings_of(RunConfig config) {
  config.evaluation = with_exact_lengths(config.evaluation);
  Settings settings;
  for (const FieldRecord& field : list_fields(config)) {
    if (field.role == Role::kExecution) continue;
    settings.values[field.path] = field.value;
    if (field.structural) settings.parts.insert(field.path);
  }
  return settings;
}

using Values = std::set<std::string>;

// The values that runs have at each key path; of `parts`, also that one is absent.
std::map<std::string, Values> values_of(const std::vector<Settings>& runs,
                                        const std::set<std::string>& parts) {
  std::map<std::string, Values> values;
  for (const Settings& run : runs) {
    for (const auto& [path, value] : run.values) values[path].insert(value);
  }
  for (const std::string& path : parts) {
    for (const Settings& run : runs) values[path].insert(run.at(path));
  }
  return values;
}

// "seed (0, 1, 2, ...)"; the path alone where a value is empty or takes more than a line has room for.
std::string difference_text(const std::string& path, const Values& values) {
  std::vector<std::string> shown;
  for (const std::string& value : values) {
    if (value.empty() || value.size() > kMaxLength || value.find('\n') != std::string::npos) return path;
    if (shown.size() < kMaxValues) shown.push_back(value);
  }
  return fmt::format("{} ({}{})", path, fmt::join(shown, ", "), values.size() > kMaxValues ? ", ..." : "");
}

// Of the values at each key path.
std::string differences_text(const std::map<std::string, Values>& differing) {
  std::vector<std::string> texts;
  for (const auto& [path, values] : differing) {
    if (texts.size() < kMaxPaths) texts.push_back(difference_text(path, values));
  }
  const std::size_t more = differing.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, ", "),
                     more == 0 ? "" : fmt::format(" and {}", counted(more, "further setting")));
}

}  // namespace

std::optional<std::string> other_runs(const std::vector<RunConfig>& runs,
                                      const std::filesystem::path& experiment) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(experiment / "runs", ignored)) return std::nullopt;
  std::vector<RunFolder> stored;
  try {
    stored = find_runs(experiment).runs;
  } catch (const Error&) {
    return std::nullopt;  // Whoever works on the folder says what is wrong with it.
  }
  std::set<std::string> ids;
  for (const RunConfig& run : runs) ids.insert(run_id(run));
  std::erase_if(stored, [&](const RunFolder& run) { return ids.contains(run.id()); });
  if (stored.empty()) return std::nullopt;
  std::vector<Settings> own;
  own.reserve(runs.size());
  for (const RunConfig& run : runs) own.push_back(settings_of(run));
  std::set<std::string> known_parts;
  for (const Settings& run : own) known_parts.insert(run.parts.begin(), run.parts.end());
  const std::map<std::string, Values> known = values_of(own, known_parts);
  std::map<std::string, Values> differing;
  for (const RunFolder& run : stored) {
    if (run.config().is_foreign()) {
      differing["foreign_model"].insert(run.config().foreign_model);
      continue;
    }
    const Settings settings = settings_of(run.config());
    const auto is_new = [&](const std::string& path) {
      const auto found = known.find(path);
      // No run of the config has it.
      if (found == known.end()) return settings.parts.contains(path);
      return !found->second.contains(settings.at(path));
    };
    const auto compare = [&](const std::string& path) {
      // The settings of another task or encoding follow from its name.
      const std::string name = path.substr(0, path.find('.')) + ".name";
      const bool follows = name != path && settings.values.contains(name) && is_new(name);
      if (!follows && is_new(path)) differing[path].insert(settings.at(path));
    };
    for (const auto& [path, value] : settings.values) compare(path);
    // What the run lacks and every run of the config has.
    for (const std::string& path : known_parts) {
      if (!settings.values.contains(path)) compare(path);
    }
  }
  const bool is_one = stored.size() == 1;
  const std::string who = fmt::format("{} holds {} that {} not of this config", experiment.string(),
                                      counted(stored.size(), "stored run"), is_one ? "is" : "are");
  if (differing.empty()) return who + ", with settings of this config in another combination";
  return fmt::format("{}; {} {}", who, is_one ? "it differs in" : "they differ in",
                     differences_text(differing));
}

std::optional<std::string> evaluated_otherwise(const std::vector<RunConfig>& runs,
                                               const std::filesystem::path& experiment, bool retrain) {
  std::size_t count = 0;
  std::map<std::string, Values> differing;  // What they were asked before.
  for (const RunConfig& config : runs) {
    const InspectedRun found = RunFolder::inspect(experiment / "runs" / run_id(config));
    if (!found.run) continue;
    const Settings before = settings_of(found.run->config());
    const Settings now = settings_of(config);
    if (before.values == now.values) continue;
    try {
      if (found.run->status().state != RunState::kFinished) continue;
    } catch (const Error&) {
      continue;
    }
    ++count;
    // The id is the same, and so is what it is made of.
    for (const auto& [path, value] : before.values) {
      if (now.at(path) != value) differing[path].insert(value);
    }
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{} {} evaluated otherwise before, with {}; to run this config changes their scores{}",
                     counted(count, "finished run"), count == 1 ? "was" : "were", differences_text(differing),
                     retrain ? "" : ", and to run the earlier config again brings back the earlier ones");
}

}  // namespace che
