#include "experiments/learn/replicas.h"

#include <ATen/ATen.h>
#include <fmt/core.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "core/process.h"
#include "core/version.h"
#include "experiments/learn/model_factory.h"
#include "experiments/store/needs.h"

namespace che {
namespace {

// Parameters that are trained again can end with other values, for example on another machine. A score of
// rows of both would belong to no model.
void set_evaluation_aside(Replica& replica, const WarningSink& warn) {
  const auto aside = replica.folder.set_evaluation_aside();
  if (!aside) return;
  warn(fmt::format(
      "its trained model is lost; it is trained again, and the evaluation of the lost one is now {}",
      aside->string()));
  replica.evaluation.clear();
  replica.status.evaluation_seconds = 0;
}

// Lets a replica without a checkpoint start from that of the longest shorter run which has a good one, with
// what that run measured up to there.
void continue_shorter_run(Replica& replica, StoredRun& stored, std::int64_t parameters,
                          const WarningSink& warn) {
  replica.status.continued_from.clear();
  replica.status.earlier.clear();
  const RunFolder& run = replica.folder;
  for (const RunFolder& shorter : shorter_runs(run, StoredRuns(run.experiment()))) {
    LoadedCheckpoint loaded = load_checkpoint(
        shorter.path(), shorter.id(), static_cast<std::size_t>(parameters), DamagedCheckpoints::kLeave);
    for (const std::string& warning : loaded.warnings) warn(warning);
    if (!loaded.checkpoint) continue;
    StoredRun begun = shorter.read();
    replica.checkpoint = std::move(loaded.checkpoint);
    replica.is_unsaved = true;
    replica.status.training_seconds = begun.status.training_seconds;
    replica.status.continued_from = shorter.id();
    add_earlier(replica.status, begun.status);
    stored.metrics = std::move(begun.metrics);
    stored.at_steps = std::move(begun.at_steps);
    return;
  }
}

std::vector<RunConfig> configs_of(const std::vector<Replica>& replicas) {
  std::vector<RunConfig> configs;
  configs.reserve(replicas.size());
  for (const Replica& replica : replicas) configs.push_back(replica.folder.config());
  return configs;
}

// The members of a checkpoint that hold values of replica `index`, each with the tensor that it copies.
std::array<std::pair<at::Tensor, std::vector<float>*>, 3> stored_tensors(const TrainingState& training,
                                                                         std::size_t index,
                                                                         Checkpoint& checkpoint) {
  const auto r = static_cast<std::int64_t>(index);
  return {{{training.model->parameters().values()[r], &checkpoint.values},
           {training.adam.first_moment[r], &checkpoint.first_moment},
           {training.adam.second_moment[r], &checkpoint.second_moment}}};
}

// Before anything is written of a run: another process may have taken it over.
const RunFolder& writable_folder(const Replica& replica) {
  replica.lock.check();
  return replica.folder;
}

void write_metrics(const Replica& replica) {
  writable_folder(replica).write_metrics(replica.metrics.rows());
  write_tensorboard(replica.folder, replica.metrics.rows(), replica.evaluation, replica.status);
}

void add_predictions(const Replica& replica, const LengthResult& result, std::size_t index) {
  const at::Tensor symbols = result.predictions[static_cast<std::int64_t>(index)];  // (samples, outputs)
  const auto outputs = static_cast<std::size_t>(symbols.size(1));
  const auto* next = symbols.const_data_ptr<std::uint8_t>();
  for (std::int64_t sample = 0; sample < symbols.size(0); ++sample, next += outputs) {
    replica.predictions->add(result.rows[index].length, sample, {next, outputs});
  }
}

void write_status(Replica& replica) {
  replica.status.updated = current_utc_time();
  writable_folder(replica).write_status(replica.status);
}

}  // namespace

void sign(RunStatus& status, const RunConfig& config) {
  const RunStatus before = status;
  if (status.started.empty()) status.started = current_utc_time();
  status.git_commit = git_commit();
  status.version = program_version();
  status.torch_version = TORCH_VERSION;
  status.device = device_text(config);
  status.host = host_name();
  status.processor = processor_name();
  status.updated = current_utc_time();
  add_earlier(status, before);
}

std::optional<Replica> load_replica(const RunFolder& run, FileLock lock, std::int64_t parameters,
                                    const ProgressSink& progress) {
  const auto warn = [&](const std::string& text) { progress(warning_about(run.id(), text)); };
  const RunConfig& config = run.config();
  StoredRun stored = run.set_damage_aside(warn);
  const bool is_mixed = stored.is_mixed(config);
  // The time of rows that are measured anew counts once. Each step of at_steps has as many lengths as the
  // end.
  if (stored.evaluation.empty() && stored.status.state == RunState::kFinished) {
    const auto steps = static_cast<double>(stored.at_steps.size());
    stored.status.evaluation_seconds *= steps / (steps + 1);
  }
  Replica replica{.folder = run,
                  .lock = std::move(lock),
                  .status = std::move(stored.status),
                  .metrics = MetricsLog(config.log.every_steps, config.training.steps),
                  .evaluation = std::move(stored.evaluation),
                  .checkpoint = std::nullopt};
  LoadedCheckpoint loaded = load_checkpoint(run.path(), run.id(), static_cast<std::size_t>(parameters),
                                            DamagedCheckpoints::kSetAside);
  for (const std::string& warning : loaded.warnings) warn(warning);
  replica.is_unsaved = !loaded.warnings.empty();
  replica.checkpoint = std::move(loaded.checkpoint);

  RunStatus& status = replica.status;
  replica.lacks_predictions = config.evaluation.predictions && !stored.has_predictions;
  const bool is_complete =
      lengths_to_measure(replica.evaluation, config).empty() && !replica.lacks_predictions && !is_mixed;
  status.error.clear();  // An earlier attempt's is no longer the run's.
  const bool is_unknown = status.git_commit.empty() && (replica.checkpoint || !replica.evaluation.empty());
  // The status of a complete run names the program and the machine that worked on it, unless it is lost.
  if (!is_complete || status.git_commit.empty()) sign(status, config);
  if (is_unknown) status.earlier = "unknown, as its status.json was lost";
  if (is_complete) {
    if (status.state == RunState::kFinished && status.step == config.training.steps) return std::nullopt;
    status.state = RunState::kFinished;
    status.step = config.training.steps;
    run.write_status(status);
    return std::nullopt;
  }
  if (!replica.checkpoint) continue_shorter_run(replica, stored, parameters, warn);
  status.step = replica.checkpoint ? replica.checkpoint->step : 0;
  status.state = RunState::kWaiting;
  if (status.step < config.training.steps) {
    set_evaluation_aside(replica, warn);
    replica.lacks_predictions = config.evaluation.predictions;  // The predictions of a lost model are gone.
  }
  if (!replica.metrics.resume(std::move(stored.metrics), status.step,
                              replica.checkpoint ? replica.checkpoint->sums : MetricSums())) {
    const auto aside = run.set_metrics_aside();
    warn(fmt::format(
        "metrics.csv lacks rows before step {}, and the training goes on without those that it has{}",
        status.step, aside ? ", which are now " + aside->string() : ""));
  }
  // A status that was lost, or whose process was killed after it wrote the rows, knows less time than they
  // do.
  if (!replica.metrics.rows().empty()) {
    status.training_seconds = std::max(status.training_seconds, replica.metrics.rows().back().seconds);
  }
  // Later measurements are repeated, as those of metrics are.
  replica.at_steps = std::move(stored.at_steps);
  replica.at_steps.erase(replica.at_steps.upper_bound(status.step), replica.at_steps.end());
  run.write_at_steps(replica.at_steps);
  run.write_status(status);
  return replica;
}

ReplicaSet::ReplicaSet(std::vector<Replica> replicas)
    : replicas_(std::move(replicas)), name_(replicas_.front().folder.id()), training_(configs_of(replicas_)) {
  const bool are_saved = std::ranges::all_of(
      replicas_, [](const Replica& replica) { return replica.checkpoint && !replica.is_unsaved; });
  for (std::size_t r = 0; r < replicas_.size(); ++r) restore(r);
  if (are_saved) saved_step_ = training_.step;
}

void ReplicaSet::restore(std::size_t index) {
  Replica& replica = replicas_[index];
  if (!replica.checkpoint) {
    replica.status.training_seconds = 0;
    return;
  }
  for (auto& [tensor, values] : stored_tensors(training_, index, *replica.checkpoint))
    copy_values(*values, tensor);
  training_.step = replica.checkpoint->step;
  replica.checkpoint.reset();
}

bool ReplicaSet::have_all_failed() const {
  return std::ranges::all_of(replicas_, std::mem_fn(&Replica::has_failed));
}

bool ReplicaSet::has_any_failed() const {
  return std::ranges::any_of(replicas_, std::mem_fn(&Replica::has_failed));
}

double ReplicaSet::mean(const std::vector<double>& values) const {
  double sum = 0;
  double count = 0;
  for (std::size_t r = 0; r < values.size(); ++r) {
    if (replicas_[r].has_failed()) continue;
    sum += values[r];
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

void ReplicaSet::add_step(const MeasuredStep& measured) {
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    Replica& replica = replicas_[r];
    if (replica.has_failed()) continue;
    const double loss = measured.result.loss[r];
    const double gradient_norm = measured.result.gradient_norm[r];
    const std::vector<double>& validation = measured.result.validation_loss;
    replica.status.step = measured.step;
    replica.status.training_seconds += measured.seconds;
    if (std::isfinite(loss) && std::isfinite(gradient_norm)) {
      replica.metrics.add(
          {.step = measured.step,
           .loss = loss,
           .accuracy = measured.result.accuracy[r],
           .gradient_norm = gradient_norm,
           .seconds = replica.status.training_seconds,
           .validation_loss = validation.empty() ? std::nullopt : std::optional(validation[r])});
    } else {
      fail(replica, fmt::format("{} is not finite at step {}, length {} (loss {}, gradient norm {}): lower "
                                "learning_rate or try another seed",
                                std::isfinite(loss) ? "gradient" : "loss", measured.step, measured.length,
                                loss, gradient_norm));
    }
  }
}

void ReplicaSet::fail(Replica& replica, const std::string& reason) {
  replica.status.state = RunState::kFailed;
  replica.status.error = reason;
  // How it came about; no checkpoint follows that would store it.
  replica.metrics.end_row(replica.status.step - 1, replica.status.training_seconds);
  write_metrics(replica);
  write_status(replica);
}

// Metrics first: rows beyond a checkpoint are dropped at the next start, rows before it would be missing.
void ReplicaSet::save() {
  if (saved_step_ == training_.step) return;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    Replica& replica = replicas_[r];
    if (replica.has_failed()) continue;
    Checkpoint checkpoint{.step = training_.step, .sums = replica.metrics.sums()};
    for (auto& [tensor, values] : stored_tensors(training_, r, checkpoint)) {
      const at::Tensor copy = tensor.to(at::kCPU, at::kFloat).contiguous();
      values->assign(copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
    }
    write_metrics(replica);
    save_checkpoint(writable_folder(replica).path(), replica.folder.id(), checkpoint);
    write_status(replica);
  }
  saved_step_ = training_.step;
}

std::vector<std::int64_t> ReplicaSet::steps_to_evaluate() const {
  std::vector<std::int64_t> steps;
  for (const std::int64_t step : config().evaluation.at_steps) {
    if (step < training_.step || step >= config().training.steps) continue;
    const bool is_missing = std::ranges::any_of(replicas_, [&](const Replica& replica) {
      return !missing_lengths(replica.at_steps, step, config()).empty();
    });
    if (is_missing) steps.push_back(step);
  }
  return steps;
}

std::vector<std::int64_t> ReplicaSet::lengths_to_evaluate() const {
  std::set<std::int64_t> lengths;
  for (const Replica& replica : replicas_) {
    if (replica.has_failed()) continue;
    const std::vector<std::int64_t> missing =
        !is_at_end()                ? missing_lengths(replica.at_steps, training_.step, config())
        : replica.lacks_predictions ? training_.workload->lengths()
                                    : lengths_to_measure(replica.evaluation, config());
    lengths.insert(missing.begin(), missing.end());
  }
  return {lengths.begin(), lengths.end()};
}

void ReplicaSet::add_evaluation(const LengthResult& result) {
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    Replica& replica = replicas_[r];
    if (replica.has_failed()) continue;
    store_row(is_at_end() ? replica.evaluation : replica.at_steps[training_.step], result.rows[r]);
    if (replica.predictions) add_predictions(replica, result, r);
  }
}

// The event file first: a run with every row is finished, and nothing of it is written again.
void ReplicaSet::save_evaluation(double seconds) {
  for (Replica& replica : replicas_) {
    if (replica.has_failed()) continue;
    if (!replica.repeats_rows) replica.status.evaluation_seconds += seconds;  // The time of each row once.
    if (is_at_end()) {
      write_tensorboard(writable_folder(replica), replica.metrics.rows(), replica.evaluation, replica.status);
      replica.folder.write_evaluation(replica.evaluation);
    } else {
      writable_folder(replica).write_at_steps(replica.at_steps);
    }
    write_status(replica);
  }
}

bool ReplicaSet::start_predictions() {
  if (!is_at_end()) return false;
  bool has_any = false;
  for (Replica& replica : replicas_) {
    if (replica.has_failed() || !replica.lacks_predictions) continue;
    replica.predictions =
        std::make_unique<PredictionFile>(writable_folder(replica).path(), replica.folder.config());
    replica.repeats_rows = lengths_to_measure(replica.evaluation, replica.folder.config()).empty();
    has_any = true;
  }
  return has_any;
}

void ReplicaSet::finish_predictions() {
  for (Replica& replica : replicas_) {
    if (!replica.predictions) continue;
    writable_folder(replica);
    replica.predictions->finish();
    replica.predictions.reset();
    replica.lacks_predictions = false;
    replica.repeats_rows = false;
  }
}

void ReplicaSet::set_state(RunState state) {
  for (Replica& replica : replicas_) {
    if (!replica.has_failed()) replica.status.state = state;
  }
  write_statuses();
}

void ReplicaSet::write_statuses() {
  for (Replica& replica : replicas_) {
    if (!replica.has_failed()) write_status(replica);
  }
}

}  // namespace che
