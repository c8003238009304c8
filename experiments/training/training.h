#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "experiments/plan/run_config.h"
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

// Forward, loss, backward, clip, Adam: update number `step` (from 0) at `rate_fraction` of the learning
// rates.
StepResult training_step(Transformer& model, Adam& adam, const TensorBatch& batch, const Positions& positions,
                         const Dropout& dropout, std::int64_t step, double rate_fraction = 1);

// A model in training. `runs` are its replicas: equal but for seed and learning rate.
struct TrainingState {
  std::vector<RunConfig> runs;
  std::unique_ptr<Transformer> model;
  Adam adam;
  std::int64_t step = 0;  // Updates made.

  // Freshly initialised.
  explicit TrainingState(std::vector<RunConfig> replicas);
  std::vector<std::int64_t> seeds() const;
};

// Is told of every step made, with the length of its batch; returns whether to go on.
using AfterStep = std::function<bool(std::int64_t length, const StepResult& result)>;

// Trains until the config's steps are made or `after_step` says to stop.
void train(TrainingState& state, const AfterStep& after_step);

}  // namespace che
