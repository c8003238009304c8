#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "experiments/config.h"
#include "experiments/tensor_batch.h"
#include "models/adam.h"
#include "models/transformer.h"

namespace che {

// What a step measured with the parameters before its update; one value a replica each.
struct StepResult {
  std::vector<double> loss;           // Nats per output symbol.
  std::vector<double> accuracy;       // 0 .. 1
  std::vector<double> gradient_norm;  // Before clipping.
};

// Forward, loss, backward, clip, Adam: update number `step` (from 0).
StepResult training_step(Transformer& model, Adam& adam, const TensorBatch& batch, const Positions& positions,
                         const Dropout& dropout, std::int64_t step);

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
