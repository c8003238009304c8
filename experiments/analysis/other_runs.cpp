#include "experiments/analysis/other_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <system_error>

#include "core/config/field_list.h"
#include "core/counted.h"
#include "core/error.h"
#include "experiments/plan/exact_lengths.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

constexpr std::size_t kMaxPaths = 5;    // That one line names.
constexpr std::size_t kMaxValues = 3;   // Of each.
constexpr std::size_t kMaxLength = 40;  // Of a value.

// The settings that change results or tell repetitions apart, by key path.
std::map<std::string, std::string> settings_of(RunConfig config) {
  config.evaluation = with_exact_lengths(config.evaluation);
  std::map<std::string, std::string> settings;
  for (const FieldRecord& field : list_fields(config)) {
    if (field.role != Role::kExecution) settings[field.path] = field.value;
  }
  return settings;
}

using Values = std::set<std::string>;

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
  std::map<std::string, Values> known;
  for (const RunConfig& run : runs) {
    for (const auto& [path, value] : settings_of(run)) known[path].insert(value);
  }
  std::map<std::string, Values> differing;
  for (const RunFolder& run : stored) {
    if (run.config().is_foreign()) {
      differing["foreign_model"].insert(run.config().foreign_model);
      continue;
    }
    const std::map<std::string, std::string> settings = settings_of(run.config());
    const auto is_new = [&](const std::string& path, const std::string& value) {
      const auto found = known.find(path);
      return found != known.end() && !found->second.contains(value);
    };
    for (const auto& [path, value] : settings) {
      // The settings of another task or encoding follow from its name.
      const std::string name = path.substr(0, path.find('.')) + ".name";
      const auto named = settings.find(name);
      const bool follows = named != settings.end() && name != path && is_new(name, named->second);
      if (!follows && is_new(path, value)) differing[path].insert(value);
    }
  }
  const bool is_one = stored.size() == 1;
  const std::string who = fmt::format("{} holds {} that {} not of this config", experiment.string(),
                                      counted(stored.size(), "stored run"), is_one ? "is" : "are");
  if (differing.empty()) return who + ", with settings of this config in another combination";
  return fmt::format("{}; {} {}", who, is_one ? "it differs in" : "they differ in",
                     differences_text(differing));
}

}  // namespace che
