#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/ops/device/backend.h"
#include "models/parameters/parameter_set.h"

namespace che {

// Adam's state for a set of parameters; see adam_update() for the formula. Every replica has its own learning
// rate.
struct Adam {
  at::Tensor first_moment;    // (replicas, size)
  at::Tensor second_moment;   // (replicas, size)
  at::Tensor learning_rates;  // (replicas, 1)
  double clip_norm;
  Backend backend;

  Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip, Backend which);

  // Returns the settings of update number `step` (from 0) at that fraction of the learning rates.
  AdamSettings settings(std::int64_t step, double rate_fraction) const;

  // Update number `step` (from 0) of `parameters` by their gradients, at the fraction `rate_fraction` of the
  // learning rates. Returns the norms before clipping, (replicas).
  at::Tensor update(ParameterSet& parameters, std::int64_t step, double rate_fraction = 1);
};

}  // namespace che
