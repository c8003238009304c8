#include "experiments/analysis/models_left_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "experiments/plan/run_filter.h"

namespace che {
namespace {

// Whether predictions of a model outside che have anything that the condition asks for.
bool is_of_predictions(const std::string& condition) {
  static const std::set<std::string> roots = {"task", "foreign_model", "seed", "evaluation"};
  return roots.contains(condition.substr(0, condition.find_first_of("=.")));
}

bool all_hold(std::vector<RunFilter>& filters, const RunConfig& config) {
  const AskedRun asked(config, {});
  return std::ranges::all_of(filters, [&](RunFilter& filter) { return filter.matches(asked); });
}

}  // namespace

std::vector<std::string> models_left_out(const std::vector<RunFolder>& runs,
                                         const std::vector<RunFolder>& chosen,
                                         const std::vector<std::string>& conditions) {
  std::vector<std::string> of_predictions;
  std::vector<std::string> of_training;
  for (const std::string& condition : conditions) {
    (is_of_predictions(condition) ? of_predictions : of_training).push_back(condition);
  }
  if (of_training.empty()) return {};
  std::vector<RunFilter> filters = filters_of(of_predictions, {});
  std::map<std::string, std::size_t> left_out;  // Runs by model.
  for (const RunFolder& run : runs) {
    const RunConfig& config = run.config();
    if (config.is_foreign() && all_hold(filters, config)) ++left_out[config.foreign_model];
  }
  for (const RunFolder& run : chosen) left_out.erase(run.config().foreign_model);
  const bool is_by_name = std::ranges::all_of(
      of_training, [](const std::string& condition) { return condition.starts_with("encoding="); });
  std::vector<std::string> lines;
  for (const auto& [model, count] : left_out) {
    const std::string remedy = is_by_name ? fmt::format("to keep it, name it too: encoding=[rope,{}]", model)
                                          : "of a model outside che only task, seed and evaluation are known";
    lines.push_back(fmt::format("the model {} ({}), by --only {}; {}", model, counted(count, "run"),
                                fmt::join(of_training, " --only "), remedy));
  }
  return lines;
}

}  // namespace che
