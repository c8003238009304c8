#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/training/step_graphs.h"
#include "models/parameters/adam.h"
#include "models/transformer.h"

namespace che {

// A model of two layers and two replicas in training on three strings of six symbols, the same at every step:
// what checks of a device compare.
class SmallModel {
 public:
  SmallModel(const EncodingConfig& encoding, const Backend& backend, std::int64_t width = 16);

  // Has later steps replayed; see StepGraphs.
  void use_graphs();

  // Makes update number `step` (from 0). Returns loss, accuracy and gradient norm as training_step() does.
  at::Tensor train(std::int64_t step);
  // Makes it with these gradients.
  void update_with(const at::Tensor& gradients, std::int64_t step);

  at::Tensor logits();

  void take_values(const SmallModel& other);
  const at::Tensor& values() const { return model_.parameters().values(); }        // (replicas, size)
  const at::Tensor& gradients() const { return model_.parameters().gradients(); }  // Of the last step,
  std::vector<at::Tensor> parameter_gradients() const;  // and by parameter, (replicas, values).

 private:
  RunConfig config_;
  Transformer model_;
  Adam adam_;
  std::unique_ptr<StepGraphs> graphs_;
};

}  // namespace che
