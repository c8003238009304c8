#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "models/ops/device/backend.h"

namespace che {

// How a model does on a batch, one value a replica each.
struct BatchScore {
  at::Tensor loss;     // Cross entropy in nats, mean over batch and all output symbols.
  at::Tensor correct;  // sum(mask correct), a whole number; accuracy is its share of sum(mask).
};

// logits (replicas, batch, outputs, classes); targets (batch, outputs) of type long; mask (batch,
// outputs) of type byte, 0 and 1, which the loss ignores. All on one device. Throws Error where their shapes,
// types or devices do not fit the logits.
BatchScore score_batch(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& mask,
                       const Backend& backend);

// The cross entropy of each output in nats, (replicas, batch, outputs).
at::Tensor output_losses(const at::Tensor& logits, const at::Tensor& targets);

namespace reference {

// The composition of LibTorch's operations: loss and correct.
std::pair<at::Tensor, at::Tensor> score_batch(const at::Tensor& logits, const at::Tensor& targets,
                                              const at::Tensor& mask);

}  // namespace reference

}  // namespace che
