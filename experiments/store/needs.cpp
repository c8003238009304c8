#include "experiments/store/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/shorter_run.h"

namespace che {
namespace {

Operations operations_left(const RunConfig& config, const StoredRun& stored, std::int64_t first_step,
                           const RunNeeds& needs) {
  if (needs.missing.empty()) return {};
  const std::vector<std::int64_t> all = config.evaluation.lengths();
  const auto steps = static_cast<double>(std::max<std::int64_t>(0, config.training.steps - first_step));
  Operations left{.training = steps * training_step_operations(config),
                  .evaluation = evaluation_operations(config, needs.has_model ? needs.missing : all)};
  for (const std::int64_t step : config.evaluation.at_steps) {
    if (step < first_step || step >= config.training.steps) continue;
    const auto rows = stored.at_steps.find(step);
    const bool is_measured = needs.has_model && rows != stored.at_steps.end();
    left.evaluation +=
        evaluation_operations(config, is_measured ? missing_lengths(rows->second, config) : all);
  }
  return left;
}

}  // namespace

std::vector<std::int64_t> passed_steps(const StepRows& at_steps, std::int64_t step, const RunConfig& config) {
  std::vector<std::int64_t> passed;
  for (const std::int64_t asked : config.evaluation.at_steps) {
    const auto rows = at_steps.find(asked);
    const bool is_measured = rows != at_steps.end() && missing_lengths(rows->second, config).empty();
    if (asked < step && !is_measured) passed.push_back(asked);
  }
  return passed;
}

RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model) {
  const bool lacks_predictions = config.evaluation.predictions && !stored.has_predictions;
  RunNeeds needs{
      .state = stored.status.state,
      .is_damaged = !stored.damage.empty(),
      .has_model = has_model,
      .was_trained = stored.status.state == RunState::kFinished || !stored.evaluation.empty(),
      .missing = lacks_predictions ? config.evaluation.lengths() : missing_lengths(stored.evaluation, config),
      .passed = passed_steps(stored.at_steps, stored.status.step, config)};
  needs.left = operations_left(config, stored, has_model ? stored.status.step : 0, needs);
  return needs;
}

RunNeeds assess(const RunFolder& folder) {
  const StoredRun stored = folder.read();
  RunNeeds needs = assess(folder.config(), stored, has_checkpoint(folder.path()));
  if (needs.has_model || needs.missing.empty()) return needs;
  const std::vector<RunFolder> shorter = shorter_runs(folder);
  if (shorter.empty()) return needs;
  needs.continues = shorter.front().id();
  needs.first_step = shorter.front().config().training.steps;
  needs.left = operations_left(folder.config(), stored, needs.first_step, needs);
  return needs;
}

std::string retraining_command(const RunFolder& run) {
  const EvaluationConfig& evaluation = run.config().evaluation;
  std::string lengths =
      fmt::format("evaluation.last_length={}", evaluation.lengths().back() + evaluation.length_step);
  if (!evaluation.listed_lengths.empty()) {
    lengths = fmt::format("'evaluation.lengths=[{}, {}]'", fmt::join(evaluation.listed_lengths, ", "),
                          evaluation.listed_lengths.back() + 1);
  }
  return fmt::format("che run CONFIG {} --retrain --output {}", lengths,
                     shell_word(run.path().parent_path().parent_path().string()));
}

}  // namespace che
