#include "experiments/store/experiment_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "core/file_lock.h"
#include "core/files.h"
#include "core/parallel.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/plan/config_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// Whether a folder holds more than its lock and temporary files.
bool holds_anything(const fs::path& folder, std::error_code& error) {
  return std::ranges::any_of(entries_of(folder, error), [](const fs::path& entry) {
    const std::string name = entry.filename().string();
    return !is_lock_file(name) && !name.starts_with('.');
  });
}

// Returns nothing where `path` is no run.
std::optional<InspectedRun> inspect_entry(const fs::path& path) {
  std::error_code error;
  const bool is_run = fs::is_directory(path, error) && holds_anything(path, error);
  const bool is_absent = error == std::errc::no_such_file_or_directory;  // A dangling link, or just removed.
  if (error && !is_absent) {
    return InspectedRun{std::nullopt, RunProblem::kNoAccess,
                        fmt::format("cannot read '{}': {}", path.string(), error.message())};
  }
  return is_run ? std::optional(RunFolder::inspect(path)) : std::nullopt;
}

// Returns the results folder with the closest name, beside `folder` or in results/; empty for none.
fs::path closest_experiment(const fs::path& folder) {
  // A config's name, without its .yaml, is that of its results folder.
  const std::string name = (is_config_file(folder) ? folder.stem() : folder.filename()).string();
  return closest_path(name, {folder.parent_path(), "results"}, [](const fs::path& entry) {
    std::error_code ignored;
    return fs::is_directory(entry / "runs", ignored);
  });
}

// Says which folder to name instead of one that holds no runs/.
std::string folder_hint(const fs::path& named) {
  std::error_code ignored;
  const fs::path folder = named.filename().empty() ? named.parent_path() : named;
  for (fs::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    if (above.filename() != "runs") continue;
    const fs::path experiment = above.has_parent_path() ? above.parent_path() : fs::path(".");
    return fmt::format("did you mean {}?", experiment.string());
  }
  if (fs::is_regular_file(folder / "runs.tar.xz", ignored)) {
    return fmt::format(
        "its runs are packed: scripts/committed_results.sh restore {0} unpacks them to results/{0}",
        folder.filename().string());
  }
  const fs::path closest = closest_experiment(folder);
  if (!closest.empty()) return fmt::format("did you mean {}?", closest.string());
  if (fs::is_regular_file(folder, ignored) && is_config_file(folder)) {
    return fmt::format("it is a config that has not been run yet; `che run {}` writes a results folder",
                       folder.string());
  }
  const fs::path config = fs::path("configs") / (folder.filename().string() + ".yaml");
  if (fs::is_regular_file(config, ignored)) {
    return fmt::format("not run yet; `che run {0}` writes results/{1}", config.string(),
                       folder.filename().string());
  }
  return "name a folder that `che run` wrote";
}

}  // namespace

ExperimentRuns find_runs(const fs::path& experiment) {
  const fs::path folder = experiment / "runs";
  std::error_code error;
  const std::vector<fs::path> entries = entries_of(folder, error);
  if (error) {
    const ErrorKind kind = error_kind_of(error.value());
    throw Error(
        fmt::format("no results in '{}': cannot read '{}': {}{}", experiment.string(), folder.string(),
                    error.message(), kind == ErrorKind::kUsage ? "; " + folder_hint(experiment) : ""),
        kind);
  }
  ExperimentRuns found;
  for_each_in_order(
      entries.size(), [&](std::size_t i) { return inspect_entry(entries[i]); },
      [&](std::size_t, std::optional<InspectedRun> inspected) {
        if (!inspected) return;
        if (inspected->run) {
          found.runs.push_back(*std::move(inspected->run));
        } else {
          found.left_out.push_back(*std::move(inspected));
        }
      });
  if (found.runs.empty() && found.left_out.empty()) {
    throw Error(fmt::format("no results in '{}': '{}' holds no runs; name a folder that `che run` wrote",
                            experiment.string(), folder.string()));
  }
  return found;
}

std::vector<RunFolder> open_runs(const fs::path& experiment, const WarningSink& warn,
                                 std::vector<std::string>* left_out) {
  ExperimentRuns found = find_runs(experiment);
  bool is_any_unreadable = false;
  for (const InspectedRun& run : found.left_out) {
    warn(fmt::format("left out: {}", run.text));
    if (left_out != nullptr) left_out->push_back(run.text);
    is_any_unreadable |= run.problem == RunProblem::kNoAccess;
  }
  if (found.runs.empty()) {
    throw Error(
        fmt::format("no results in '{}': no run can be used: {}{}", experiment.string(),
                    found.left_out.size() > 1 ? "the first because " : "", found.left_out.front().text),
        is_any_unreadable ? ErrorKind::kRuntime : ErrorKind::kUsage);
  }
  return std::move(found.runs);
}

RunChoice::RunChoice(RunConditions conditions)
    : conditions_(std::move(conditions)), filters_(filters_of(conditions_, {})) {}

std::vector<RunFolder> RunChoice::of(std::vector<RunFolder> runs, const WarningSink& warn) const {
  if (filters_.empty()) return runs;
  // Filters note what they have matched.
  std::vector<RunFilter> filters = filters_;
  std::vector<RunFolder> chosen;
  for (const RunFolder& run : runs) {
    const AskedRun asked(run.config(), {});
    bool holds = true;
    for (RunFilter& filter : filters) holds &= filter.chooses(asked);
    if (holds) chosen.push_back(run);
  }
  for (const RunFilter& filter : filters) {
    filter.check_made_sense(
        "; labels of a config's variants are not stored: name what they set, such as model.width=16");
  }
  if (chosen.empty()) {
    const std::string problem =
        fmt::format("{} leaves none of {}", options_text(filters), counted(runs.size(), "stored run"));
    std::vector<RunConfig> configs;
    configs.reserve(runs.size());
    for (const RunFolder& run : runs) configs.push_back(run.config());
    for (RunFilter& filter : filters) {
      const std::string held = filter.held_instead(configs);
      if (!held.empty()) throw Error(fmt::format("{}; in them, {}", problem, held));
    }
    throw Error(problem + "; `che table EXPERIMENT_DIR --runs` shows what there is");
  }
  for (const RunFilter& filter : filters) {
    for (const std::string& value : filter.unheld_values()) {
      warn(fmt::format("{}: no stored run has {}", filter.option(), value));
    }
  }
  return chosen;
}

}  // namespace che
