#include "experiments/learn/job.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/learn/evaluation.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/replicas.h"
#include "experiments/plan/identity.h"
#include "experiments/schedule/progress.h"

namespace che {
namespace {

constexpr double kStatusSeconds = 10;

// See work_on_job() for what it waits for. Returns nothing where `stop` was set meanwhile.
std::optional<FileLock> lock_run(const RunFolder& run, const ProgressSink& progress,
                                 const std::atomic<int>& stop, std::chrono::seconds patience) {
  const Clock::time_point start = Clock::now();
  bool is_told = false;
  while (true) {
    LockRefusal refusal;
    std::optional<FileLock> lock = FileLock::try_hold(run.path(), refusal);
    if (lock) return lock;
    if (stop.load() != 0) return std::nullopt;
    if (!refusal.is_silent && Clock::now() - start >= patience) throw Error(refusal.text);
    if (refusal.is_silent && !is_told) {
      progress(warning_about(run.id(), fmt::format("waiting: {}", refusal.text)));
      is_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(refusal.is_silent ? 1000 : 100));
  }
}

// Trains to step `until`, or until `stop` is set or no replica is left.
void train_replicas(ReplicaSet& replicas, std::int64_t until, const ProgressSink& progress,
                    const std::atomic<int>& stop) {
  const RunConfig& config = replicas.config();
  const std::int64_t first_step = replicas.training().step;
  ProgressMeter meter({.job = replicas.name(),
                       .runs = replicas.training().runs.size(),
                       .done = first_step,
                       .total = config.training.steps},
                      static_cast<double>(config.training.steps - first_step), progress);
  Every status_timer(kStatusSeconds);
  Every checkpoint_timer(config.execution.checkpoint_seconds);

  const auto after_steps = [&](std::span<const MeasuredStep> steps) {
    for (const MeasuredStep& step : steps) {
      replicas.add_step(step);
      if (replicas.have_all_failed()) return false;
      meter.add(1, replicas.mean(step.result.loss), replicas.mean(step.result.accuracy));
    }
    if (status_timer.is_due()) replicas.write_statuses();
    if (checkpoint_timer.is_due()) replicas.save();
    return stop.load() == 0;
  };
  train(replicas.training(), after_steps, until);
  replicas.save();
}

// Evaluates the model of the present step at the lengths that are missing, or until `stop` is set.
void evaluate_replicas(ReplicaSet& replicas, const ProgressSink& progress, const std::atomic<int>& stop) {
  const TrainingState& training = replicas.training();
  training.model->project();
  Clock::time_point saved = Clock::now();
  const auto save = [&] {
    replicas.save_evaluation(seconds_since(saved));
    saved = Clock::now();
  };
  const KeptDetails kept{.predictions = replicas.start_predictions(), .curve = replicas.is_at_end()};
  Evaluation evaluation(*training.model, training.runs, replicas.lengths_to_evaluate(), progress, stop);
  while (const auto result = evaluation.next(kept)) {
    replicas.add_evaluation(*result);
    if (evaluation.is_save_due()) save();
  }
  save();
  if (evaluation.is_complete()) replicas.finish_predictions();
}

JobOutcome train_and_evaluate(ReplicaSet& replicas, const ProgressSink& progress,
                              const std::atomic<int>& stop) {
  replicas.set_state(RunState::kTraining);
  const auto can_go_on = [&] { return stop.load() == 0 && !replicas.have_all_failed(); };
  // The line of a job that trains stays that of its training.
  const ProgressSink silent = [](const Progress&) {};
  // The checkpoint of a step precedes its rows: a run that is killed between both comes back to the step.
  for (const std::int64_t step : replicas.steps_to_evaluate()) {
    train_replicas(replicas, step, progress, stop);
    if (can_go_on()) evaluate_replicas(replicas, silent, stop);
    if (!can_go_on()) break;
  }
  if (can_go_on()) train_replicas(replicas, replicas.config().training.steps, progress, stop);
  if (can_go_on()) {
    replicas.set_state(RunState::kEvaluating);
    evaluate_replicas(replicas, progress, stop);
  }
  if (stop.load() != 0) {
    replicas.set_state(RunState::kInterrupted);
    return JobOutcome::kInterrupted;
  }
  replicas.set_state(RunState::kFinished);
  return replicas.has_any_failed() ? JobOutcome::kFailed : JobOutcome::kDone;
}

// Throws Error (usage) unless `runs` are one or more different runs that may train in lock-step.
void check_is_one_job(const std::vector<RunFolder>& runs) {
  if (runs.empty()) throw Error("a job needs at least one run");
  std::set<std::string> ids;
  for (const RunFolder& run : runs) {
    if (!ids.insert(run.id()).second) throw Error(fmt::format("run {} is named twice", run.id()));
    if (!share_a_job(run.config(), runs.front().config())) {
      throw Error(
          fmt::format("{} and {} differ in more than seed and learning rate: they are no job; work on "
                      "them one by one",
                      runs.front().path().string(), run.path().string()));
    }
  }
}

// Loads the runs that are not finished, by the step that they stand at: only runs at the same step can go on
// in lock-step.
std::map<std::int64_t, std::vector<Replica>> load_by_step(const std::vector<RunFolder>& runs,
                                                          std::vector<FileLock> locks,
                                                          const ProgressSink& progress) {
  std::map<std::int64_t, std::vector<Replica>> by_step;
  const std::int64_t parameters = parameter_count(runs.front().config());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::optional<Replica> replica = load_replica(runs[i], std::move(locks[i]), parameters, progress);
    if (replica) by_step[replica->status.step].push_back(std::move(*replica));
  }
  return by_step;
}

}  // namespace

JobOutcome work_on_job(const std::vector<RunFolder>& runs, const ProgressSink& progress,
                       const std::atomic<int>& stop, std::chrono::seconds patience) {
  check_is_one_job(runs);
  std::vector<FileLock> locks;
  locks.reserve(runs.size());
  for (const RunFolder& run : runs) {
    std::optional<FileLock> lock = lock_run(run, progress, stop, patience);
    if (!lock) return JobOutcome::kInterrupted;
    locks.push_back(*std::move(lock));
  }
  JobOutcome outcome = JobOutcome::kDone;
  for (auto& [step, replicas] : load_by_step(runs, std::move(locks), progress)) {
    ReplicaSet set(std::move(replicas));
    const JobOutcome part = train_and_evaluate(set, progress, stop);
    if (part == JobOutcome::kInterrupted) return part;
    if (part == JobOutcome::kFailed) outcome = part;
  }
  return outcome;
}

JobOutcome evaluate_stored_model(const RunFolder& run, const RunConfig& asked, const ProgressSink& progress,
                                 const std::atomic<int>& stop, std::chrono::seconds patience) {
  asked.check();
  const std::optional<FileLock> lock = lock_run(run, progress, stop, patience);
  if (!lock) return JobOutcome::kInterrupted;
  std::vector<EvaluationRow> rows = run.evaluation();
  const std::vector<std::int64_t> lengths = lengths_to_measure(rows, asked);
  if (lengths.empty()) return JobOutcome::kDone;
  const RestoredModel restored = restore_model(run, asked, DamagedCheckpoints::kSetAside);
  for (const std::string& warning : restored.warnings) progress(warning_about(run.id(), warning));
  if (restored.step != asked.training.steps) {
    throw Error(
        fmt::format("its newest good checkpoint is of step {} of {}; remove the run's folder, and "
                    "`che run` trains it again",
                    restored.step, asked.training.steps));
  }
  const std::vector<RunConfig> runs{asked};
  Evaluation evaluation(*restored.model, runs, lengths, progress, stop);
  auto saved = std::chrono::steady_clock::now();
  bool has_new_rows = false;
  const auto save = [&] {
    if (!std::exchange(has_new_rows, false)) return;
    lock->check();
    run.write_evaluation(rows);
    const auto now = std::chrono::steady_clock::now();
    RunStatus status = run.status();
    if (status.state != RunState::kFinished) return;  // The file was lost, or the run began again.
    status.evaluation_seconds += std::chrono::duration<double>(now - saved).count();
    sign(status, asked);
    run.write_status(status);
    saved = now;
  };
  while (const auto result = evaluation.next({.curve = true})) {
    store_row(rows, result->rows.front());
    has_new_rows = true;
    if (evaluation.is_save_due()) save();
  }
  save();
  return evaluation.is_complete() ? JobOutcome::kDone : JobOutcome::kInterrupted;
}

}  // namespace che
