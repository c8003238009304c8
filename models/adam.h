#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/parameter_set.h"

namespace che {

// Adam (arXiv 1412.6980) with beta 0.9 and 0.999, epsilon 1e-8 added outside the square root, after
// clipping each replica's gradient to a Euclidean norm; every replica has its own learning rate.
struct Adam {
  at::Tensor first_moment;    // (replicas, size)
  at::Tensor second_moment;   // (replicas, size)
  at::Tensor learning_rates;  // (replicas, 1)
  double clip_norm = 1;

  Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip);

  // Update number `step` (from 0) of `parameters` by their gradients. Returns the norms before
  // clipping, (replicas).
  at::Tensor update(ParameterSet& parameters, std::int64_t step);
};

}  // namespace che
