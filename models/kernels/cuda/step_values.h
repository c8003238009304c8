#pragma once

#include <cmath>
#include <cstdint>

#include "models/kernels/cuda/abi.h"

namespace che {

// What dropout number `step` and an update by `settings` take of their step.
inline CudaStep step_values(std::uint32_t step, const AdamSettings& settings) {
  const auto updates = static_cast<double>(settings.updates);
  return {.dropout = step,
          .second_scale = static_cast<float>(1 / (1 - std::pow(settings.beta2, updates))),
          .rate_scale = settings.rate_fraction / (1 - std::pow(settings.beta1, updates))};
}

}  // namespace che
