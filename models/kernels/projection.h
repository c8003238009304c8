#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "models/kernels/kernels.h"

namespace che {

// What attention reads: x wq for the tokens from `first_query` on, x wk and x wv. x (replicas, batch,
// tokens, width), each weight (replicas, width, width); the results are like (the part of) x. Fused,
// the three gradients of x add up inside the matrix products.
std::array<at::Tensor, 3> attention_inputs(const at::Tensor& x, const at::Tensor& wq, const at::Tensor& wk,
                                           const at::Tensor& wv, std::int64_t first_query, Kernels kernels);

}  // namespace che
