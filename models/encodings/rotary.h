#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/kernels/dispatch.h"

namespace che {

// Turns neighbouring feature pairs (2k, 2k+1) of `heads` (replicas, batch, tokens, heads,
// head_width) by the angle p max_time^(-2k/head_width), p the token's entry in `positions`. Angles
// are computed in double.
at::Tensor rotate_pairs(const at::Tensor& heads, const std::vector<std::int64_t>& positions, double max_time,
                        const Backend& backend);

}  // namespace che
