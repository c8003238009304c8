#include "experiments/results/other_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/differences.h"
#include "experiments/plan/identity.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

// "seed (0, 1, 2, ...)"; the path alone where a value is empty or too long for the line.
std::string difference_text(const std::string& path, const std::set<std::string>& values) {
  constexpr std::size_t kMaxValues = 3;
  constexpr std::size_t kMaxLength = 40;
  std::vector<std::string> shown;
  for (const std::string& value : values) {
    if (value.empty() || value.size() > kMaxLength || value.find('\n') != std::string::npos) return path;
    if (shown.size() < kMaxValues) shown.push_back(value);
  }
  return fmt::format("{} ({}{})", path, fmt::join(shown, ", "), values.size() > kMaxValues ? ", ..." : "");
}

std::string differences_text(const Differences& differing) {
  constexpr std::size_t kMaxPaths = 5;
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
    return std::nullopt;  // The command that reads the folder reports what is wrong with it.
  }
  std::set<std::string> ids;
  for (const RunConfig& run : runs) ids.insert(run_id(run));
  std::erase_if(stored, [&](const RunFolder& run) { return ids.contains(run.id()); });
  if (stored.empty()) return std::nullopt;
  std::vector<RunConfig> trained_here;
  std::set<std::string> foreign_models;
  for (const RunFolder& run : stored) {
    if (run.config().is_foreign()) {
      foreign_models.insert(run.config().foreign_name());
    } else {
      trained_here.push_back(run.config());
    }
  }
  Differences differing = differences(trained_here, runs);
  if (!foreign_models.empty()) differing["model.name"] = std::move(foreign_models);
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
  bool has_text = false;
  Differences differing;  // Values with which they were evaluated before.
  for (const RunConfig& config : runs) {
    const InspectedRun stored = RunFolder::inspect(experiment / "runs" / run_id(config));
    if (!stored.run) continue;
    const Differences before = differences({stored.run->config()}, {config});
    if (before.empty()) continue;
    try {
      if (stored.run->status().state != RunState::kFinished) continue;
    } catch (const Error&) {
      continue;
    }
    ++count;
    has_text |= config.has_text();
    for (const auto& [path, values] : before) differing[path].insert(values.begin(), values.end());
  }
  if (count == 0) return std::nullopt;
  std::string effect = "to run this config changes their scores";
  // Texts have rows of their own for other settings, but not for other samples.
  const bool have_other_samples =
      std::ranges::any_of(std::array{"evaluation.samples", "evaluation.seed", "evaluation.eval_dropout"},
                          [&](const char* path) { return differing.contains(path); });
  if (!retrain && has_text && !have_other_samples) {
    effect = "tables of texts then show what either config measured";
  } else if (!retrain) {
    effect += ", and to run the earlier config again brings back the earlier ones";
  }
  return fmt::format("{} {} evaluated otherwise before, with {}; {}", counted(count, "finished run"),
                     count == 1 ? "was" : "were", differences_text(differing), effect);
}

}  // namespace che
