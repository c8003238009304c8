#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/training/replica.h"
#include "experiments/training/training.h"

namespace che {

// Runs of one job that stand at the same step: the model that they train together, and their files. A run
// that fails keeps its place in the tensors; its files are no longer written.
class ReplicaSet {
 public:
  // With the parameters, moments and sums of the replicas' checkpoints.
  explicit ReplicaSet(std::vector<Replica> replicas);

  const std::string& name() const { return name_; }  // The first run's id.
  const RunConfig& config() const {
    return training_.runs.front();
  }  // But for seed and learning rate, of all.
  TrainingState& training() { return training_; }
  bool have_all_failed() const;
  bool has_any_failed() const;

  // Mean over the replicas that have not failed; one value each.
  double mean(const std::vector<double>& values) const;

  // Notes what a step measured. A replica whose loss or gradient is not
  // finite fails: its status says why, and nothing more is stored of it.
  void add_step(const MeasuredStep& measured);

  // Stores metrics and a checkpoint of each replica, unless those on disk are of this step.
  void save();

  // The steps of evaluation.at_steps, from the present one to the one before the last, that some replica
  // lacks rows of.
  std::vector<std::int64_t> steps_to_evaluate() const;

  // The evaluation of the present step's model: lengths that the config asks for and some replica has no row
  // of, or no prediction.
  std::vector<std::int64_t> missing_lengths() const;
  // Takes the rows of one length, one row per replica.
  void add_evaluation(const std::vector<EvaluationRow>& rows);
  // Stores these rows; they took `seconds` since the last call.
  void save_evaluation(double seconds);

  // After the last step: begins the files of predictions that are missing, takes what PredictionSink is told,
  // and puts them in place. Returns whether there are any.
  bool start_predictions();
  void add_predictions(std::int64_t length, std::int64_t index, const at::Tensor& symbols);
  void finish_predictions();

  void set_state(RunState state);
  void write_statuses();

 private:
  bool is_at_end() const { return training_.step == config().training.steps; }
  // The rows of the present step's model.
  const std::vector<EvaluationRow>& rows_of(const Replica& replica) const;
  void restore(std::size_t index);
  void fail(Replica& replica, const std::string& reason);

  std::vector<Replica> replicas_;
  std::string name_;
  TrainingState training_;
  std::int64_t saved_step_ = -1;  // Of the newest checkpoints.
};

}  // namespace che
