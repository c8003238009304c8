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

std::string id_of_any_steps(RunConfig config) {
  config.training.steps = 1;
  return run_id(config);
}

bool is_measured(const StepRows& rows, std::int64_t step, const RunConfig& config) {
  return rows.contains(step) && missing_lengths(rows, step, config).empty();
}

bool is_shorter(const RunFolder& other, const RunFolder& run) {
  const RunConfig& config = run.config();
  const std::int64_t steps = other.config().training.steps;
  if (steps == 0 || steps >= config.training.steps) return false;
  const StoredRun stored = other.read();
  if (stored.status.state != RunState::kFinished || !stored.damage.empty()) return false;
  return std::ranges::all_of(config.evaluation.at_steps, [&](std::int64_t step) {
    return step >= steps || is_measured(stored.at_steps, step, config);
  });
}

Operations operations_left(const RunConfig& config, const StoredRun& stored, std::int64_t first_step,
                           const RunNeeds& needs) {
  if (needs.missing.empty()) return {};
  const double whole = evaluation_operations(config, config.evaluation.lengths());
  const auto steps = static_cast<double>(std::max<std::int64_t>(0, config.training.steps - first_step));
  Operations left{.training = steps * training_step_operations(config),
                  .evaluation = needs.has_model ? evaluation_operations(config, needs.missing) : whole};
  for (const std::int64_t step : config.evaluation.at_steps) {
    if (step < first_step || step >= config.training.steps) continue;
    const auto rows = stored.at_steps.find(step);
    const bool is_begun = needs.has_model && rows != stored.at_steps.end();
    left.evaluation +=
        is_begun ? evaluation_operations(config, missing_lengths(rows->second, config)) : whole;
  }
  return left;
}

}  // namespace

StoredRuns::Group StoredRuns::read_group(std::string_view readable) const {
  Group group;
  const auto name_of = [](const fs::path& entry) { return entry.filename().string(); };
  for (auto entry = std::ranges::lower_bound(*entries_, readable, {}, name_of);
       entry != entries_->end() && name_of(*entry).starts_with(readable); ++entry) {
    if (readable_part(name_of(*entry)) != readable) continue;
    // A run that cannot be read is none to go on from; the commands that show runs say why.
    try {
      if (!has_checkpoint(*entry)) continue;
      const InspectedRun other = RunFolder::inspect(*entry);
      if (other.run) group[id_of_any_steps(other.run->config())].push_back(*other.run);
    } catch (const Error&) {
      continue;
    }
  }
  for (auto& [id, runs] : group) {
    std::ranges::sort(runs, std::greater<>(),
                      [](const RunFolder& one) { return one.config().training.steps; });
  }
  return group;
}

const std::vector<RunFolder>& StoredRuns::of_any_steps(const RunFolder& run) const {
  const std::string readable = readable_part(run.id());
  const std::string id = id_of_any_steps(run.config());
  const std::scoped_lock lock(mutex_);
  if (!entries_) {
    std::error_code error;
    entries_ = entries_of(experiment_ / "runs", error);
  }
  auto group = groups_.find(readable);
  if (group == groups_.end()) group = groups_.emplace(readable, read_group(readable)).first;
  return group->second[id];
}

std::vector<RunFolder> shorter_runs(const RunFolder& run, const StoredRuns& stored, std::size_t most) {
  std::vector<RunFolder> shorter;
  if (!run.config().training.is_begin_of_longer_run()) return shorter;
  for (const RunFolder& other : stored.of_any_steps(run)) {
    if (shorter.size() == most) break;
    try {
      if (is_shorter(other, run)) shorter.push_back(other);
    } catch (const Error&) {
      continue;
    }
  }
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
    if (is_passed && !is_measured(stored.at_steps, step, config)) needs.passed.push_back(step);
  }
  needs.left = operations_left(config, stored, has_model ? stored.status.step : 0, needs);
  return needs;
}

namespace {

RunNeeds assess(const RunFolder& folder, const StoredRun& stored, bool has_model, const StoredRuns& others) {
  RunNeeds needs = assess(folder.config(), stored, has_model);
  if (needs.has_model || needs.missing.empty()) return needs;
  const std::vector<RunFolder> shorter = shorter_runs(folder, others, 1);
  if (shorter.empty()) return needs;
  needs.continues = shorter.front().id();
  needs.first_step = shorter.front().config().training.steps;
  needs.left = operations_left(folder.config(), stored, needs.first_step, needs);
  return needs;
}

}  // namespace

RunNeeds assess(const RunFolder& folder, const StoredRuns& others) {
  StoredRun stored = folder.read();
  // A process that was killed has trained past its checkpoint, from where the run goes on.
  if (stored.status.state != RunState::kFinished) {
    stored.status.step = checkpoint_step(folder.path()).value_or(0);
  }
  return assess(folder, stored, has_checkpoint(folder.path()), others);
}

RunNeeds assess_anew(const RunFolder& folder, const StoredRuns& others) {
  return assess(folder, StoredRun(), /*has_model=*/false, others);
}

std::string retraining_commands(const RunFolder& run) {
  const EvaluationConfig& evaluation = run.config().evaluation;
  std::string lengths =
      fmt::format("evaluation.last_length={}", evaluation.lengths().back() + evaluation.length_step);
  if (!evaluation.listed_lengths.empty()) {
    lengths = fmt::format("'evaluation.lengths=[{}, {}]'", fmt::join(evaluation.listed_lengths, ", "),
                          evaluation.listed_lengths.back() + 1);
  }
  const std::string output = shell_word(run.experiment().string());
  return fmt::format(
      "che run CONFIG {} --retrain --output {}, and after it che run CONFIG --output {}, so that scores "
      "count the config's lengths alone; the first trains every run of CONFIG whose model is missing, "
      "and --only KEY=VALUE, given to both, chooses some",
      lengths, output, output);
}

}  // namespace che
