#pragma once

#include <ATen/core/Tensor.h>

#include "models/ops/device/backend.h"

namespace che {

// An update by Adam (arXiv 1412.6980) after each replica's gradient is clipped to a Euclidean norm:
//
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   value -= rate / (1 - beta1^n) m / (sqrt(v / (1 - beta2^n)) + epsilon).
//
// Gradients, moments m and v, and values are (replicas, size), learning_rates (replicas, 1); moments and
// values are changed in place. Returns the norms before clipping, (replicas). Fused, a value costs 4 bytes of
// memory traffic for the norms and 28 for the update.
at::Tensor adam_update(const at::Tensor& gradients, const at::Tensor& learning_rates,
                       const at::Tensor& first_moment, const at::Tensor& second_moment,
                       const at::Tensor& values, const AdamSettings& settings, const Backend& backend);

namespace reference {

// The composition of LibTorch's operations.
at::Tensor adam_update(const at::Tensor& gradients, const at::Tensor& learning_rates,
                       const at::Tensor& first_moment, const at::Tensor& second_moment,
                       const at::Tensor& values, const AdamSettings& settings);

}  // namespace reference

}  // namespace che
