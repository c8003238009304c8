#include "experiments/training/replica.h"

#include <fmt/core.h>
#include <torch/version.h>

#include <string>
#include <utility>

#include "core/process.h"
#include "core/version.h"
#include "experiments/store/needs.h"
#include "experiments/training/model_factory.h"

namespace che {
namespace {

// Parameters that are trained again end with other values, on another machine for example: a score of rows of
// both would be that of no model.
void set_evaluation_aside(Replica& replica, const WarningSink& warn) {
  const auto aside = replica.folder.set_evaluation_aside();
  if (!aside) return;
  warn(fmt::format(
      "its trained model is lost; it is trained again, and the evaluation of the lost one is now {}",
      aside->string()));
  replica.evaluation.clear();
  replica.status.evaluation_seconds = 0;
}

// What this program and machine are.
void sign(RunStatus& status, const RunConfig& config) {
  if (status.started.empty()) status.started = current_utc_time();
  status.git_commit = git_commit();
  status.version = program_version();
  status.torch_version = TORCH_VERSION;
  status.device = open_device(config.execution).description;
  status.host = host_name();
  status.processor = processor_name();
  status.updated = current_utc_time();
}

// Without a checkpoint of its own, a replica takes that of the longest shorter run which has a good one, and
// what that run measured up to there.
void continue_shorter_run(Replica& replica, StoredRun& stored, std::int64_t parameters,
                          const WarningSink& warn) {
  replica.status.continued_from.clear();
  for (const RunFolder& shorter : shorter_runs(replica.folder)) {
    LoadedCheckpoint loaded = load_checkpoint(
        shorter.path(), shorter.id(), static_cast<std::size_t>(parameters), DamagedCheckpoints::kLeave);
    for (const std::string& warning : loaded.warnings) warn(warning);
    if (!loaded.checkpoint) continue;
    StoredRun begun = shorter.read();
    replica.checkpoint = std::move(loaded.checkpoint);
    replica.is_unsaved = true;
    replica.status.training_seconds = begun.status.training_seconds;
    replica.status.continued_from = shorter.id();
    stored.metrics = std::move(begun.metrics);
    stored.at_steps = std::move(begun.at_steps);
    return;
  }
}

}  // namespace

std::optional<Replica> load_replica(const RunFolder& run, FileLock lock, std::int64_t parameters,
                                    const ProgressSink& progress) {
  const auto warn = [&](const std::string& text) { progress(warning_about(run.id(), text)); };
  const RunConfig& config = run.config();
  StoredRun stored = run.set_damage_aside(warn);
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
  sign(status, config);
  status.error.clear();  // An earlier attempt's is no longer the run's.
  replica.lacks_predictions = config.evaluation.predictions && !stored.has_predictions;
  if (missing_lengths(replica.evaluation, config).empty() && !replica.lacks_predictions) {
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
  replica.metrics.resume(std::move(stored.metrics), status.step,
                         replica.checkpoint ? replica.checkpoint->sums : MetricSums());
  // As for metrics, what was measured later is measured again.
  replica.at_steps = std::move(stored.at_steps);
  replica.at_steps.erase(replica.at_steps.upper_bound(status.step), replica.at_steps.end());
  run.write_at_steps(replica.at_steps);
  run.write_status(status);
  return replica;
}

}  // namespace che
