#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/kernels/kernels.h"
#include "models/parameter_set.h"

namespace che {

// Adam (arXiv 1412.6980) with beta 0.9 and 0.999, epsilon 1e-8 added outside the square root, after
// clipping each replica's gradient to a Euclidean norm; every replica has its own learning rate.
struct Adam {
  at::Tensor first_moment;    // (replicas, size)
  at::Tensor second_moment;   // (replicas, size)
  at::Tensor learning_rates;  // (replicas, 1)
  double clip_norm = 1;
  Kernels kernels;  // Fused: one pass over the gradients for their norm and one for the update.

  Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip,
       Kernels kernels = Kernels::kReference);

  // Update number `step` (from 0) of `parameters` by their gradients. Returns the norms before
  // clipping, (replicas).
  at::Tensor update(ParameterSet& parameters, std::int64_t step);

 private:
  void update_fused(const ParameterSet& parameters, const at::Tensor& norms, std::int64_t step);
  void update_composed(const ParameterSet& parameters, const at::Tensor& norms, std::int64_t step);
};

}  // namespace che
