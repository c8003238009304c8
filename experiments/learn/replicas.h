#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "experiments/learn/evaluation.h"
#include "experiments/learn/metrics.h"
#include "experiments/learn/training.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/prediction_file.h"
#include "experiments/store/run_folder.h"

namespace che {

// One run of a job, with its stored state in memory.
struct Replica {
  RunFolder folder;
  FileLock lock;  // Holds the folder.
  RunStatus status;
  MetricsLog metrics;
  std::vector<EvaluationRow> evaluation;
  StepRows at_steps = {};
  bool lacks_predictions = false;  // Whether its config asks for predictions that are not stored.
  bool repeats_rows = false;       // Whether it has every row and is evaluated for its predictions alone.
  std::unique_ptr<PredictionFile> predictions = nullptr;  // While they are written.
  std::optional<Checkpoint> checkpoint;                   // The newest good one, or that of a shorter run.
  bool is_unsaved = false;  // Whether the folder lacks this checkpoint as its newest.

  bool has_failed() const { return status.state == RunState::kFailed; }
};

// Notes in `status` that this program on this machine works on a run as `config` says, and who did before.
void sign(RunStatus& status, const RunConfig& config);

// Reads a run of `parameters` parameters, whose `lock` this process has. Makes it ready to go on from its
// newest good checkpoint, or from that of a shorter run (see shorter_runs). Damaged files are set aside, and
// so is the evaluation of a model that is lost; the job is warned of each. Returns nothing for a run that has
// every row that its config asks for: it is finished, whatever other files it lacks.
std::optional<Replica> load_replica(const RunFolder& run, FileLock lock, std::int64_t parameters,
                                    const ProgressSink& progress);

// Runs of one job that stand at the same step, with the model that they train together and their files. A run
// that fails keeps its place in the tensors; its files are no longer written.
class ReplicaSet {
 public:
  // Takes parameters, moments and sums from the replicas' checkpoints.
  explicit ReplicaSet(std::vector<Replica> replicas);

  const std::string& name() const { return name_; }  // The first run's id.
  // The runs' config; seed and learning rate are those of the first run.
  const RunConfig& config() const { return training_.runs.front(); }
  TrainingState& training() { return training_; }
  bool have_all_failed() const;
  bool has_any_failed() const;

  // Mean over the replicas that have not failed; one value each.
  double mean(const std::vector<double>& values) const;

  // Notes what a step measured. A replica whose loss or gradient is not finite fails: its status says why,
  // and nothing more is stored of it.
  void add_step(const MeasuredStep& measured);

  // Stores metrics and a checkpoint of each replica, unless those on disk are of this step.
  void save();

  bool is_at_end() const { return training_.step == config().training.steps; }

  // The steps of evaluation.at_steps, from the present one to the one before the last, that some replica
  // lacks rows of.
  std::vector<std::int64_t> steps_to_evaluate() const;

  // The lengths at which the present step's model is to be evaluated: the config asks for them, and some
  // replica lacks the row, its curve or the predictions.
  std::vector<std::int64_t> lengths_to_evaluate() const;
  // Begins the files of predictions that the last step's model is to leave. Returns whether there are any.
  bool start_predictions();
  void add_evaluation(const LengthResult& result);
  // Stores the rows that were added since the last call and took `seconds`.
  void save_evaluation(double seconds);
  // Puts the files of predictions in place, which are whole then.
  void finish_predictions();

  void set_state(RunState state);
  void write_statuses();

 private:
  void restore(std::size_t index);
  void fail(Replica& replica, const std::string& reason);

  std::vector<Replica> replicas_;
  std::string name_;
  TrainingState training_;
  std::int64_t saved_step_ = -1;  // The step of the newest checkpoints.
};

}  // namespace che
