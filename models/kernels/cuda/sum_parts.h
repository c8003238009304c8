#pragma once

#include "models/kernels/cuda/gpu.h"

namespace che::gpu {

// The sum over the parts, in their order, of value i of values (replicas, parts, size).
__device__ __forceinline__ float sum_of_parts(const float* values, std::int64_t replica, std::int64_t parts,
                                              std::int64_t size, std::int64_t i) {
  const float* value = values + replica * parts * size + i;
  float sum = 0;
  for (std::int64_t part = 0; part < parts; ++part, value += size) sum += *value;
  return sum;
}

}  // namespace che::gpu
