#include "experiments/store/run_choice.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace che {
RunChoice::RunChoice(const std::vector<std::string>& conditions)
    : conditions_(conditions), filters_(filters_of(conditions, {})) {}

std::vector<RunFolder> RunChoice::of(std::vector<RunFolder> runs, const WarningSink& warn) const {
  if (filters_.empty()) return runs;
  // Filters note what they have matched.
  std::vector<RunFilter> filters = filters_;
  std::vector<RunFolder> chosen;
  for (const RunFolder& run : runs) {
    const AskedRun asked(run.config(), {});
    bool holds = true;
    for (RunFilter& filter : filters) holds &= filter.matches(asked);
    if (holds) chosen.push_back(run);
  }
  for (const RunFilter& filter : filters) {
    filter.check_made_sense(
        "; labels of a config's variants are not stored: name what they set, such as model.width=16");
  }
  if (chosen.empty()) {
    const std::string problem = fmt::format("--only leaves none of {}", counted(runs.size(), "stored run"));
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
      warn(fmt::format("--only: no stored run has {}", value));
    }
  }
  return chosen;
}

}  // namespace che
