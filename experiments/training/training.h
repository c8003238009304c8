#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/training/step_graphs.h"
#include "experiments/training/tensor_batch.h"
#include "models/parameters/adam.h"
#include "models/transformer.h"

namespace che {

// What a step measured with the parameters before its update; one value a replica each.
struct StepResult {
  std::vector<double> loss;           // Nats per output symbol.
  std::vector<double> accuracy;       // 0 .. 1
  std::vector<double> gradient_norm;  // Before clipping.
};

// The fraction of the learning rate at which update number `step` (from 0) is made; see
// TrainingConfig::warmup_steps.
double rate_fraction(const TrainingConfig& training, std::int64_t step);

// What training_step() returned. The host waits for the device.
StepResult read_result(const at::Tensor& measured);

// Forward, loss, backward, clip, Adam: update number `step` (from 0) at `rate_fraction` of the learning
// rates. Returns loss, accuracy and gradient norm, (3, replicas) of type double, on the model's device, for
// which the host has not waited.
at::Tensor training_step(Transformer& model, Adam& adam, const TensorBatch& batch, const Positions& positions,
                         const Dropout& dropout, std::int64_t step, double rate_fraction = 1);

// A step that was made.
struct MeasuredStep {
  std::int64_t step;    // Updates made, this one included.
  std::int64_t length;  // Of its batch.
  double seconds;       // That it took; steps that are told of together share theirs evenly.
  StepResult result;
};

// A model in training. `runs` are its replicas: equal but for seed and learning rate.
struct TrainingState {
  std::vector<RunConfig> runs;
  std::unique_ptr<Transformer> model;
  Adam adam;
  std::unique_ptr<StepGraphs> graphs;  // With execution.graphs on another device than a CPU.
  std::int64_t step = 0;               // Updates made.

  // Freshly initialised, on what the runs' `execution` asks for, or on `backend`.
  explicit TrainingState(std::vector<RunConfig> replicas);
  TrainingState(std::vector<RunConfig> replicas, const Backend& backend);
  std::vector<std::int64_t> seeds() const;

  // Makes the next step, with graphs where there are any; see training_step().
  at::Tensor make_step(const Batch& batch, const Positions& positions);
};

// Is told of every step made, in order; none is outstanding at a call. Returns whether to go on.
using AfterSteps = std::function<bool(std::span<const MeasuredStep>)>;

// Trains until the config's steps, or the first `until` of them, are made or `after_steps` says to stop.
// Where it ends changes no bit of the steps: training goes on in another call. `after_steps` is called after
// each step on a CPU. On another device, for which the host would have to wait each time, after 64 steps,
// after a second, and after each step that ends a row of metrics.
void train(TrainingState& state, const AfterSteps& after_steps, std::optional<std::int64_t> until = {});

}  // namespace che
