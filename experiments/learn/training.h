#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/learn/batches.h"
#include "experiments/learn/step_graphs.h"
#include "experiments/plan/run_config.h"
#include "models/architectures/model.h"
#include "models/parameters/adam.h"
#include "workloads/workload.h"

namespace che {

// The measurements of a step, with the parameters before its update; one value a replica each.
struct StepResult {
  std::vector<double> loss;           // Nats per output.
  std::vector<double> accuracy;       // A share of 1, of the outputs that count.
  std::vector<double> gradient_norm;  // Before clipping.
  // On the workload's validation examples, with the parameters after the update; empty where none are due.
  std::vector<double> validation_loss = {};
};

// The fraction of the learning rate at which update number `step` (from 0) is made; see TrainingConfig.
double rate_fraction(const TrainingConfig& training, std::int64_t step);

// Reads what training_step() returned. The host waits for the device.
StepResult read_result(const at::Tensor& measured);

// Forward, loss, backward, clip, Adam: update number `step` (from 0) at `rate_fraction` of the learning
// rates. See add_gradients() for `micro_batch`. Returns loss, accuracy and gradient norm, (3, replicas) of
// type double, on the model's device, for which the host has not waited.
at::Tensor training_step(Model& model, Adam& adam, const TensorBatch& batch, const Pass& pass,
                         std::int64_t step, double rate_fraction = 1, std::int64_t micro_batch = 0);

struct MeasuredStep {
  std::int64_t step;    // Updates made, this one included.
  std::int64_t length;  // The length of its batch.
  double seconds;       // Its duration. Steps that are reported together share theirs evenly.
  StepResult result;
};

// A model in training. `runs` are its replicas: equal but for seed and learning rate.
struct TrainingState {
  std::vector<RunConfig> runs;
  std::unique_ptr<Workload> workload;
  std::unique_ptr<Model> model;
  Adam adam;
  std::unique_ptr<StepGraphs> graphs;  // Set where a GPU replays steps.
  std::int64_t step = 0;               // Updates made.

  // Initialises the parameters, on `backend` or on what the runs' `execution` asks for.
  explicit TrainingState(std::vector<RunConfig> replicas);
  TrainingState(std::vector<RunConfig> replicas, const Backend& backend);
  std::vector<std::int64_t> seeds() const;

  // Makes the next step, with graphs if there are any; see training_step().
  at::Tensor make_step(const SequenceBatch& batch);

  // Captures the graphs of a task's training lengths, the longest sequence first: shorter ones find room in
  // its memory. Changes neither parameters nor moments.
  void capture_graphs();
};

// Is told of every step, in order; none is outstanding at a call. Returns whether to go on.
using AfterSteps = std::function<bool(std::span<const MeasuredStep>)>;

// Trains until the config's steps, or the first `until` of them, are made or `after_steps` says to stop.
// Another call goes on with the same bits. `after_steps` is called after each step on a CPU. On another
// device the host would have to wait each time. There it is called after 64 steps, after a second, and after
// each step that ends a row of metrics.
void train(TrainingState& state, const AfterSteps& after_steps, std::optional<std::int64_t> until = {});

}  // namespace che
