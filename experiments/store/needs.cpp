#include "experiments/store/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/store/checkpoint.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// The id without its hash, which the names of all such runs begin with.
std::string readable_part(const std::string& id) { return id.substr(0, id.rfind('-') + 1); }

bool is_shorter(const RunFolder& other, const RunFolder& run) {
  const RunConfig& config = run.config();
  RunConfig as_long = other.config();
  if (!config.training.is_begin_of_longer_run()) return false;
  if (as_long.training.steps == 0 || as_long.training.steps >= config.training.steps) return false;
  as_long.training.steps = config.training.steps;
  if (run_id(as_long) != run.id() || !has_checkpoint(other.path())) return false;
  const StoredRun stored = other.read();
  if (stored.status.state != RunState::kFinished || !stored.damage.empty()) return false;
  return std::ranges::all_of(config.evaluation.at_steps, [&](std::int64_t step) {
    return step >= other.config().training.steps || missing_lengths(stored.at_steps, step, config).empty();
  });
}

Operations operations_left(const RunConfig& config, const StoredRun& stored, std::int64_t first_step,
                           const RunNeeds& needs) {
  if (needs.missing.empty()) return {};
  const std::vector<std::int64_t> all = config.evaluation.lengths();
  const auto steps = static_cast<double>(std::max<std::int64_t>(0, config.training.steps - first_step));
  Operations left{.training = steps * training_step_operations(config),
                  .evaluation = evaluation_operations(config, needs.has_model ? needs.missing : all)};
  for (const std::int64_t step : config.evaluation.at_steps) {
    if (step < first_step || step >= config.training.steps) continue;
    left.evaluation +=
        evaluation_operations(config, needs.has_model ? missing_lengths(stored.at_steps, step, config) : all);
  }
  return left;
}

}  // namespace

std::vector<RunFolder> shorter_runs(const RunFolder& run) {
  std::vector<RunFolder> shorter;
  const std::string begin = readable_part(run.id());
  std::error_code error;
  for (const fs::path& entry : entries_of(run.path().parent_path(), error)) {
    const std::string name = entry.filename().string();
    if (readable_part(name) != begin || name == run.id()) continue;
    // A run that cannot be read is none to go on from; the commands that show runs say why.
    try {
      const InspectedRun other = RunFolder::inspect(entry);
      if (other.run && is_shorter(*other.run, run)) shorter.push_back(*other.run);
    } catch (const Error&) {
      continue;
    }
  }
  std::ranges::sort(shorter, std::greater<>(),
                    [](const RunFolder& one) { return one.config().training.steps; });
  return shorter;
}

RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model) {
  const bool is_mixed = stored.is_mixed(config);
  const bool lacks_predictions = config.evaluation.predictions && !stored.has_predictions;
  const std::vector<std::int64_t> unmeasured = lengths_to_measure(stored.evaluation, config);
  const bool can_predict = has_model || !unmeasured.empty();
  RunNeeds needs{
      .state = stored.status.state,
      .is_damaged = !stored.damage.empty(),
      .has_model = has_model,
      .was_trained = !is_mixed && (stored.status.state == RunState::kFinished || !stored.evaluation.empty()),
      .missing = (lacks_predictions && can_predict) || is_mixed ? config.evaluation.lengths() : unmeasured,
      .has_lost_predictions = lacks_predictions && !can_predict && !is_mixed,
      .passed = {}};
  for (const std::int64_t step : config.evaluation.at_steps) {
    const bool is_passed = step < stored.status.step;
    if (is_passed && !missing_lengths(stored.at_steps, step, config).empty()) needs.passed.push_back(step);
  }
  needs.left = operations_left(config, stored, has_model ? stored.status.step : 0, needs);
  return needs;
}

namespace {

RunNeeds assess(const RunFolder& folder, const StoredRun& stored, bool has_model) {
  RunNeeds needs = assess(folder.config(), stored, has_model);
  if (needs.has_model || needs.missing.empty()) return needs;
  const std::vector<RunFolder> shorter = shorter_runs(folder);
  if (shorter.empty()) return needs;
  needs.continues = shorter.front().id();
  needs.first_step = shorter.front().config().training.steps;
  needs.left = operations_left(folder.config(), stored, needs.first_step, needs);
  return needs;
}

}  // namespace

RunNeeds assess(const RunFolder& folder) {
  StoredRun stored = folder.read();
  // A process that was killed has trained past its checkpoint, from where the run goes on.
  if (stored.status.state != RunState::kFinished) {
    stored.status.step = checkpoint_step(folder.path()).value_or(0);
  }
  return assess(folder, stored, has_checkpoint(folder.path()));
}

RunNeeds assess_anew(const RunFolder& folder) { return assess(folder, StoredRun(), /*has_model=*/false); }

std::string retraining_commands(const RunFolder& run) {
  const EvaluationConfig& evaluation = run.config().evaluation;
  std::string lengths =
      fmt::format("evaluation.last_length={}", evaluation.lengths().back() + evaluation.length_step);
  if (!evaluation.listed_lengths.empty()) {
    lengths = fmt::format("'evaluation.lengths=[{}, {}]'", fmt::join(evaluation.listed_lengths, ", "),
                          evaluation.listed_lengths.back() + 1);
  }
  const std::string output = shell_word(run.path().parent_path().parent_path().string());
  return fmt::format(
      "che run CONFIG {} --retrain --output {}, and after it che run CONFIG --output {}, so that scores "
      "count the config's lengths alone",
      lengths, output, output);
}

}  // namespace che
