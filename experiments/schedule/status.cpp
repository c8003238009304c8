#include "experiments/schedule/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/file_lock.h"
#include "core/parallel.h"
#include "core/text.h"
#include "experiments/results/training_outcome.h"
#include "experiments/store/checkpoint.h"

namespace che {
namespace {

RunState current_state(const ObservedRun& run) {
  const RunState stored = run.stored.status.state;
  if (stored == RunState::kFailed) return stored;
  if (stored == RunState::kFinished) {
    if (run.needs.missing.empty()) return stored;
    return run.is_at_work ? RunState::kEvaluating : RunState::kWaiting;
  }
  if (run.is_at_work) return stored == RunState::kEvaluating ? stored : RunState::kTraining;
  const bool is_waiting = stored == RunState::kWaiting && run.stored.status.step == 0;
  return is_waiting ? stored : RunState::kInterrupted;
}

// "step 120/2000 (6 %), 35.1 steps/s" or "evaluated 3 of 10 lengths"
std::string position_text(const ObservedRun& run, const RunConfig& config) {
  const RunStatus& status = run.stored.status;
  const std::int64_t steps = config.training.steps;
  if (status.step == 0 && steps > 0) return "begun, no step reported yet";
  if (status.step < steps) {
    std::string text = fmt::format("step {}/{} ({} %)", status.step, steps, 100 * status.step / steps);
    if (status.training_seconds > 0 && status.step > 0) {
      text += fmt::format(", {:.1f} steps/s", static_cast<double>(status.step) / status.training_seconds);
    }
    return text;
  }
  const std::size_t lengths = config.evaluation.lengths().size();
  return fmt::format("evaluated {} of {}", lengths - run.needs.missing.size(), counted(lengths, "length"));
}

// Returns what there is to say about a run; empty for one that is waiting, or finished without having
// diverged.
std::string detail_text(const ObservedRun& run, const RunConfig& config) {
  if (run.needs.is_damaged) return one_line(run.stored.damage_text(), kWholeText);
  if (run.state == RunState::kFailed) return one_line(run.stored.status.error, kWholeText);
  if (run.state == RunState::kFinished) {
    const auto found = divergence(config, run.stored.metrics);
    return found ? divergence_text(*found) : "";
  }
  if (run.state == RunState::kWaiting) return "";
  std::string position = position_text(run, config);
  // Its process was asked to stop, or it is there.
  if (run.is_at_work || run.stored.status.state == RunState::kInterrupted) return position;
  return fmt::format("{}, nothing heard for {}", position, duration_text(run.silent_seconds));
}

}  // namespace

std::string ObservedRun::state_text() const { return needs.is_damaged ? kDamaged : state_name(state); }

ObservedRun observe(const RunFolder& folder) {
  ObservedRun run{.stored = folder.read(), .needs = {}};
  const RunStatus& status = run.stored.status;
  // Another machine's clock may be ahead.
  const double updated = utc_seconds(status.updated).value_or(0);
  run.silent_seconds = std::max(0.0, static_cast<double>(std::time(nullptr)) - updated);
  run.is_at_work = FileLock::is_held(folder.path());
  run.needs = assess(folder.config(), run.stored, has_checkpoint(folder.path()));
  run.state = current_state(run);
  return run;
}

ExperimentStatus experiment_status(const std::filesystem::path& experiment, const RunChoice& choice) {
  ExperimentStatus all;
  const auto note = [&](const std::string& state, const std::string& text) {
    all.lines.push_back(fmt::format("  {:<11} {}", state, text));
  };
  const ExperimentRuns found = find_runs(experiment);
  for (const InspectedRun& run : found.left_out) {
    ++all.runs;
    ++(run.problem == RunProblem::kDamagedConfig ? all.damaged : all.left_out);
    all.unopened.emplace_back(problem_name(run.problem), one_line(run.text, kWholeText));
    note(all.unopened.back().first, all.unopened.back().second);
  }
  double left = 0;     // Operations,
  double done = 0;     // and those done in
  double seconds = 0;  // this time, added up over the runs.
  std::size_t at_work = 0;
  const std::vector<RunFolder> chosen = choice.of(found.runs);
  const auto take = [&](std::size_t index, const ObservedRun& run) {
    const RunFolder& folder = chosen[index];
    ++all.runs;
    ++(run.needs.is_damaged ? all.damaged : all.by_state[run.state]);
    const RunConfig& config = folder.config();
    const std::string detail = detail_text(run, config);
    const std::size_t lengths = config.evaluation.lengths().size();
    all.progress.push_back({.id = folder.id(),
                            .task = config.row_label().text(),
                            .encoding = config.column_label().text(),
                            .seed = config.seed,
                            .state = run.state_text(),
                            .measured = lengths - run.needs.missing.size(),
                            .lengths = lengths,
                            .detail = detail});
    if (!config.is_foreign()) {
      RunProgress& trained_here = all.progress.back();
      trained_here.data_seed = config.data_seed;
      trained_here.learning_rate = config.learning_rate;
      trained_here.step = run.stored.status.step;
      trained_here.steps = config.training.steps;
    }
    if (!detail.empty()) note(run.state_text(), fmt::format("{}: {}", folder.id(), detail));
    if (run.is_at_work) ++at_work;
    if (run.state == RunState::kFailed || run.needs.is_damaged) return;
    // Before its first checkpoint a run at work has its model in memory only.
    const bool has_model = run.is_at_work || run.needs.has_model;
    const double run_left = assess(folder.config(), run.stored, has_model).left.all();
    left += run_left;
    const double run_done = run_operations(folder.config()).all() - run_left;
    const double spent = run.stored.status.training_seconds + run.stored.status.evaluation_seconds;
    // A lost model has taken time and is not done; a status that was lost and written anew knows no times.
    if (run_done <= 0 || spent <= 0) return;
    done += run_done;
    seconds += spent;
  };
  for_each_in_order(
      chosen.size(), [&](std::size_t index) { return observe(chosen[index]); }, take);
  all.is_worked_on = at_work > 0 || FileLock::is_held(experiment);
  if (at_work > 0 && done > 0 && left > 0) {
    all.time_left = left * seconds / done / static_cast<double>(at_work);
  }
  return all;
}

std::string describe(const ExperimentStatus& status) {
  std::string text = counted(status.runs, "run") + ": ";
  std::string separator;
  const auto count = [&](std::size_t number, const std::string& state) {
    if (number == 0) return;
    text += fmt::format("{}{} {}", separator, number, state);
    separator = ", ";
  };
  for (const auto& [state, number] : status.by_state) count(number, state_name(state));
  count(status.damaged, kDamaged);
  count(status.left_out, "misnamed or unreadable");
  if (status.time_left) text += fmt::format("; about {} left", duration_text(*status.time_left));
  text += "\n";
  for (const std::string& line : status.lines) text += line + "\n";
  return text;
}

}  // namespace che
