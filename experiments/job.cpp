#include "experiments/job.h"

#include <ATen/ATen.h>
#include <fmt/core.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "core/atomic_file.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/version.h"
#include "experiments/checkpoint.h"
#include "experiments/job_list.h"
#include "experiments/model_of_run.h"
#include "experiments/range_evaluation.h"
#include "experiments/restored_model.h"
#include "experiments/training.h"

namespace che {
namespace {

constexpr double kProgressSeconds = 1;
constexpr double kStatusSeconds = 10;

// One run of a job, with its stored state in memory.
struct Replica {
  RunFolder folder;
  RunStatus status;
  std::vector<MetricsRow> metrics;
  std::vector<EvaluationRow> evaluation;
  std::optional<Checkpoint> checkpoint;
  bool damaged = false;  // A newer checkpoint was unusable.
  MetricSums sums;

  bool failed() const { return status.state == "failed"; }
};

// Runs of a job that stand at the same step.
class LockStep {
 public:
  LockStep(std::vector<Replica> replicas, const ProgressSink& progress, const std::atomic<int>& stop)
      : replicas_(std::move(replicas)), progress_(progress), stop_(stop), state_(configs()) {
    restore();
  }

  JobOutcome run() {
    set_state("training");
    train_to_end();
    if (stop_.load() == 0 && !all_failed()) {
      set_state("evaluating");
      evaluate_all();
    }
    if (stop_.load() != 0) {
      set_state("interrupted");
      return JobOutcome::kInterrupted;
    }
    set_state("finished");
    return any_failed() ? JobOutcome::kFailed : JobOutcome::kDone;
  }

 private:
  std::vector<RunConfig> configs() const {
    std::vector<RunConfig> configs;
    for (const Replica& replica : replicas_) configs.push_back(replica.folder.config());
    return configs;
  }

  bool all_failed() const {
    return std::all_of(replicas_.begin(), replicas_.end(), std::mem_fn(&Replica::failed));
  }
  bool any_failed() const {
    return std::any_of(replicas_.begin(), replicas_.end(), std::mem_fn(&Replica::failed));
  }

  // Rows of one replica in the tensors that checkpoints hold, in their order.
  std::array<std::pair<at::Tensor, std::vector<float>*>, 3> rows(std::int64_t r, Checkpoint& checkpoint) {
    return {{{state_.model->parameters().values()[r], &checkpoint.values},
             {state_.adam.first_moment[r], &checkpoint.first_moment},
             {state_.adam.second_moment[r], &checkpoint.second_moment}}};
  }

  void restore() {
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      Replica& replica = replicas_[r];
      const std::int64_t step = replica.checkpoint ? replica.checkpoint->step : 0;
      std::erase_if(replica.metrics, [&](const MetricsRow& row) { return row.step > step; });
      if (!replica.checkpoint) {
        replica.status.training_seconds = 0;
        continue;
      }
      for (auto& [tensor, values] : rows(static_cast<std::int64_t>(r), *replica.checkpoint)) {
        copy_values(*values, tensor);
      }
      state_.step = step;
      saved_step_ = replica.damaged ? -1 : step;
      replica.sums = replica.checkpoint->sums;
      replica.checkpoint.reset();
    }
  }

  void set_state(const std::string& state) {
    for (Replica& replica : replicas_) {
      if (!replica.failed()) replica.status.state = state;
    }
    write_statuses();
  }

  void write_statuses() {
    for (Replica& replica : replicas_) {
      if (!replica.failed()) write_status(replica);
    }
  }

  void write_status(Replica& replica) {
    replica.status.updated = current_utc_time();
    replica.folder.write_status(replica.status);
  }

  void train_to_end() {
    const RunConfig& config = state_.runs.front();
    Clock::time_point last_step = Clock::now();
    Clock::time_point last_checkpoint = last_step;
    Clock::time_point last_progress = last_step;
    Clock::time_point last_status = last_step;
    std::int64_t reported_step = state_.step;

    train(state_, [&](std::int64_t length, const StepResult& result) {
      const double step_seconds = seconds_since(last_step);
      last_step = Clock::now();
      for (std::size_t r = 0; r < replicas_.size(); ++r) add_to_metrics(r, length, result, step_seconds);
      if (all_failed()) return false;
      if (state_.step % config.execution.log_steps == 0) flush_metrics();
      if (seconds_since(last_progress) >= kProgressSeconds || state_.step == config.training.steps) {
        report_training(result,
                        static_cast<double>(state_.step - reported_step) / seconds_since(last_progress));
        last_progress = Clock::now();
        reported_step = state_.step;
      }
      if (seconds_since(last_status) >= kStatusSeconds) {
        write_statuses();
        last_status = Clock::now();
      }
      if (seconds_since(last_checkpoint) >= config.execution.checkpoint_seconds) {
        save();
        last_checkpoint = Clock::now();
      }
      return stop_.load() == 0;
    });
    if (state_.step == config.training.steps) flush_metrics();
    if (state_.step != saved_step_) save();
  }

  void add_to_metrics(std::size_t r, std::int64_t length, const StepResult& result, double step_seconds) {
    Replica& replica = replicas_[r];
    if (replica.failed()) return;
    replica.status.step = state_.step;
    replica.status.training_seconds += step_seconds;
    if (!std::isfinite(result.loss[r]) || !std::isfinite(result.gradient_norm[r])) {
      replica.status.state = "failed";
      replica.status.error = fmt::format(
          "{} is not finite at step {}, length {} (loss {}, gradient norm {}): lower learning_rate or try "
          "another seed",
          std::isfinite(result.loss[r]) ? "gradient" : "loss", state_.step, length, result.loss[r],
          result.gradient_norm[r]);
      // How it came about; no checkpoint follows that would store it.
      flush_metrics(replica, state_.step - 1);
      write_metrics(replica);
      write_status(replica);
      return;
    }
    MetricSums& sums = replica.sums;
    ++sums.steps;
    sums.loss += result.loss[r];
    sums.accuracy += result.accuracy[r];
    sums.gradient_norm += result.gradient_norm[r];
  }

  void flush_metrics() {
    for (Replica& replica : replicas_) flush_metrics(replica, state_.step);
  }

  // The steps since the last row become one, the last of them `step`.
  static void flush_metrics(Replica& replica, std::int64_t step) {
    MetricSums& sums = replica.sums;
    if (sums.steps == 0) return;
    replica.metrics.push_back({step, sums.loss / sums.steps, sums.accuracy / sums.steps,
                               sums.gradient_norm / sums.steps, replica.status.training_seconds});
    sums = {};
  }

  static void write_metrics(const Replica& replica) {
    replica.folder.write_metrics(replica.metrics);
    replica.folder.write_tensorboard(replica.metrics, replica.evaluation, replica.status);
  }

  // Metrics first: rows beyond a checkpoint are dropped at the next start, rows before it would be
  // missing.
  void save() {
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      Replica& replica = replicas_[r];
      if (replica.failed()) continue;
      Checkpoint checkpoint{.step = state_.step, .sums = replica.sums};
      for (auto& [tensor, values] : rows(static_cast<std::int64_t>(r), checkpoint)) {
        const at::Tensor copy = tensor.to(at::kCPU, at::kFloat).contiguous();
        values->assign(copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
      }
      write_metrics(replica);
      save_checkpoint(replica.folder.path(), replica.folder.id(), checkpoint);
      write_status(replica);
    }
    saved_step_ = state_.step;
  }

  void report_training(const StepResult& result, double per_second) {
    const std::int64_t steps = state_.runs.front().training.steps;
    const auto mean = [this](const std::vector<double>& values) {
      double sum = 0;
      double count = 0;
      for (std::size_t r = 0; r < values.size(); ++r) {
        if (replicas_[r].failed()) continue;
        sum += values[r];
        ++count;
      }
      return sum / count;
    };
    progress_({.job = replicas_.front().folder.id(),
               .phase = "training",
               .done = state_.step,
               .total = steps,
               .loss = mean(result.loss),
               .accuracy = mean(result.accuracy),
               .per_second = per_second,
               .seconds_left = static_cast<double>(steps - state_.step) / per_second});
  }

  // Lengths that some replica lacks a row for.
  std::vector<std::int64_t> lengths_to_do() const {
    std::set<std::int64_t> lengths;
    for (const Replica& replica : replicas_) {
      if (replica.failed()) continue;
      for (const std::int64_t length : missing_lengths(replica.evaluation, state_.runs.front().evaluation)) {
        lengths.insert(length);
      }
    }
    return {lengths.begin(), lengths.end()};
  }

  void evaluate_all() {
    const std::vector<std::int64_t> lengths = lengths_to_do();
    state_.model->project();
    const Clock::time_point start = Clock::now();
    std::vector<double> seconds_before;
    for (const Replica& replica : replicas_) seconds_before.push_back(replica.status.evaluation_seconds);
    const auto take = [&](const std::vector<EvaluationRow>& rows) {
      for (std::size_t r = 0; r < replicas_.size(); ++r) {
        if (!replicas_[r].failed()) store_row(replicas_[r].evaluation, rows[r]);
      }
    };
    const auto write = [&] {
      for (std::size_t r = 0; r < replicas_.size(); ++r) {
        Replica& replica = replicas_[r];
        if (replica.failed()) continue;
        replica.status.evaluation_seconds = seconds_before[r] + seconds_since(start);
        replica.folder.write_evaluation(replica.evaluation);
        replica.folder.write_tensorboard(replica.metrics, replica.evaluation, replica.status);
        write_status(replica);
      }
    };
    evaluate_lengths(*state_.model, state_.runs, lengths, progress_, stop_, take, write);
  }

  std::vector<Replica> replicas_;
  const ProgressSink& progress_;
  const std::atomic<int>& stop_;
  TrainingState state_;
  std::int64_t saved_step_ = -1;  // Of the newest checkpoints.
};

// A run with every row that its config asks for was trained to its end, whatever else is lost of it.
bool is_evaluated(const Replica& replica) {
  return missing_lengths(replica.evaluation, replica.folder.config().evaluation).empty();
}

// What is trained again ends with other parameters, on another machine say: a score of rows from both would
// be that of no model.
void forget_evaluation_of_lost_model(Replica& replica, const ProgressSink& progress) {
  if (replica.status.step == replica.folder.config().training.steps) return;
  const auto aside = replica.folder.set_evaluation_aside();
  if (!aside) return;
  progress({.job = replica.folder.id(),
            .phase = "warning",
            .text = fmt::format("its trained model is lost; it is trained again, and the evaluation of the "
                                "lost one is now {}",
                                aside->string())});
  replica.evaluation.clear();
  replica.status.evaluation_seconds = 0;
}

void finish(Replica& replica) {
  replica.status.state = "finished";
  replica.status.step = replica.folder.config().training.steps;
  replica.folder.write_status(replica.status);
}

Replica load_replica(const RunFolder& run, std::int64_t size, const ProgressSink& progress) {
  const auto warn = [&](const std::string& warning) {
    progress({.job = run.id(), .phase = "warning", .text = warning});
  };
  run.set_damage_aside(warn);
  Replica replica{run, run.status(), run.metrics(), run.evaluation(), {}, false, {}};
  LoadedCheckpoint loaded = load_checkpoint(run.path(), run.id(), static_cast<std::size_t>(size));
  for (const std::string& warning : loaded.warnings) warn(warning);
  replica.checkpoint = std::move(loaded.checkpoint);
  replica.damaged = !loaded.warnings.empty();
  replica.status.step = replica.checkpoint ? replica.checkpoint->step : 0;
  replica.status.error.clear();
  if (replica.status.started.empty()) replica.status.started = current_utc_time();
  replica.status.state = "waiting";
  replica.status.git_commit = git_commit();
  replica.status.version = program_version();
  replica.status.torch_version = TORCH_VERSION;
  replica.status.device = run.config().execution.device;
  replica.status.host = host_name();
  replica.status.updated = current_utc_time();
  run.write_status(replica.status);  // An earlier attempt's error is no longer the run's.
  return replica;
}

FileLock wait_for_lock(const RunFolder& run, const std::atomic<int>& stop, std::chrono::seconds patience) {
  const Clock::time_point start = Clock::now();
  while (true) {
    try {
      return FileLock(run.path() / "lock");
    } catch (const Error& error) {
      if (error.fault() == Fault::kRuntime || stop.load() != 0 || Clock::now() - start >= patience) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

JobOutcome work_on_job(const std::vector<RunFolder>& runs, const ProgressSink& progress,
                       const std::atomic<int>& stop, std::chrono::seconds patience) {
  check_is_one_job(runs);
  std::vector<FileLock> locks;
  for (const RunFolder& run : runs) {
    locks.push_back(wait_for_lock(run, stop, patience));
    remove_temporary_files(run.path());
  }
  const std::int64_t size = parameter_count(runs.front().config());
  std::map<std::int64_t, std::vector<Replica>> by_step;
  for (const RunFolder& run : runs) {
    Replica replica = load_replica(run, size, progress);
    if (is_evaluated(replica)) {
      finish(replica);
      continue;
    }
    forget_evaluation_of_lost_model(replica, progress);
    by_step[replica.status.step].push_back(std::move(replica));
  }
  JobOutcome outcome = JobOutcome::kDone;
  for (auto& [step, replicas] : by_step) {
    const JobOutcome group = LockStep(std::move(replicas), progress, stop).run();
    if (group == JobOutcome::kInterrupted) return group;
    if (group == JobOutcome::kFailed) outcome = group;
  }
  return outcome;
}

}  // namespace che
