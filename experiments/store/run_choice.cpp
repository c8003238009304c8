#include "experiments/store/run_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <set>
#include <utility>

#include "core/counted.h"
#include "core/error.h"

namespace che {
namespace {

// What there is to choose from; ends with an ellipsis where a list is long.
std::string values_text(const std::vector<RunFolder>& runs) {
  std::set<std::string> tasks;
  std::set<std::string> encodings;
  std::set<std::int64_t> seeds;
  std::set<double> learning_rates;
  for (const RunFolder& run : runs) {
    const RunConfig& config = run.config();
    tasks.insert(config.task.label().text());
    encodings.insert(config.column_label().text());
    seeds.insert(config.seed);
    if (!config.is_foreign()) learning_rates.insert(config.learning_rate);
  }
  const auto list = [](const auto& values) {
    constexpr std::size_t kMaxShown = 20;
    const auto shown = values | std::views::take(static_cast<std::ptrdiff_t>(kMaxShown));
    return fmt::format("{}{}", fmt::join(shown, ", "), values.size() > kMaxShown ? ", ..." : "");
  };
  return fmt::format("task: {}; encoding: {}; seed: {}; learning_rate: {}", list(tasks), list(encodings),
                     list(seeds), list(learning_rates));
}

}  // namespace

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
  std::set<std::string> old_words;
  for (const RunFilter& filter : filters) {
    filter.check_made_sense();
    for (const OldWord& word : filter.old_words()) old_words.insert(word.text);
  }
  for (const std::string& word : old_words) warn(fmt::format("--only: {}; the old word is still read", word));
  if (chosen.empty()) {
    throw Error(
        fmt::format("--only leaves none of {}: {}", counted(runs.size(), "stored run"), values_text(runs)));
  }
  return chosen;
}

}  // namespace che
