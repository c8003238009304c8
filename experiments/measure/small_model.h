#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/learn/training.h"
#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"

namespace che {

// A model of two layers and two replicas that trains on three strings of six symbols, the same at every step.
// Checks compare it on two devices.
class SmallModel {
 public:
  SmallModel(const NamedEncoding& encoding, const Backend& backend, std::int64_t width = 16);

  // Has later steps replayed; see StepGraphs.
  void use_graphs();

  // Makes update number `step` (from 0). Returns loss, accuracy and gradient norm as training_step() does.
  at::Tensor train(std::int64_t step);
  // Makes that update with these gradients.
  void update_with(const at::Tensor& gradients, std::int64_t step);

  at::Tensor logits();

  void take_values(const SmallModel& other);
  const at::Tensor& values() const { return model_->parameters().values(); }  // (replicas, size)
  // The gradients of the last step, (replicas, size), and by parameter, (replicas, values).
  const at::Tensor& gradients() const { return model_->parameters().gradients(); }
  std::vector<at::Tensor> parameter_gradients() const;

 private:
  RunConfig config_;
  SequenceBatch batch_;
  std::unique_ptr<Model> model_;
  Adam adam_;
  std::unique_ptr<StepGraphs> graphs_;
};

}  // namespace che
