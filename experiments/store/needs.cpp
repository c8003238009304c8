#include "experiments/store/needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/shell_word.h"
#include "experiments/store/checkpoint.h"

namespace che {
namespace {

Operations operations_left(const RunConfig& config, std::int64_t step, const RunNeeds& needs) {
  if (needs.missing.empty()) return {};
  if (!needs.has_model) return run_operations(config);
  const auto steps = static_cast<double>(std::max<std::int64_t>(0, config.training.steps - step));
  return {.training = steps * training_step_operations(config),
          .evaluation = evaluation_operations(config, needs.missing)};
}

}  // namespace

RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model) {
  RunNeeds needs{.state = stored.status.state,
                 .is_damaged = !stored.damage.empty(),
                 .has_model = has_model,
                 .was_trained = stored.status.state == RunState::kFinished || !stored.evaluation.empty(),
                 .missing = missing_lengths(stored.evaluation, config),
                 .left = {}};
  needs.left = operations_left(config, stored.status.step, needs);
  return needs;
}

RunNeeds assess(const RunFolder& folder) {
  return assess(folder.config(), folder.read(), has_checkpoint(folder.path()));
}

std::string retraining_command(const RunFolder& run) {
  const EvaluationConfig& evaluation = run.config().evaluation;
  return fmt::format("che run CONFIG evaluation.last_length={} --retrain --output {}",
                     evaluation.lengths().back() + evaluation.length_step,
                     shell_word(run.path().parent_path().parent_path().string()));
}

}  // namespace che
