#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace che {

// Rows of sin(p w_k), then cos(p w_k), w_k = max_time^(-2k/width), k = 0 .. width/2 - 1: all sines
// first, (positions, width). Computed in double. `width` is even.
at::Tensor sinusoid(const std::vector<std::int64_t>& positions, std::int64_t width, double max_time = 10000);

}  // namespace che
