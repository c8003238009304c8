#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/ops/device/backend.h"

namespace che {

// relu: max(x, 0). gelu: x Phi(x) with the normal distribution function Phi (arXiv 1606.08415).
enum class Activation : std::uint8_t { kRelu, kGelu };

// activation(x w1 + b1) w2 (arXiv 1706.03762): x (replicas, batch, tokens, width), w1 (replicas, width,
// hidden), b1 (replicas, hidden), w2 (replicas, hidden, width); the result is like x.
//
// Fused, tokens pass in blocks, so that a block of the hidden layer is still in a cache when it is read
// again. Forward, one pass adds the bias and applies the activation. Backward, one pass applies the
// activation's slope and sums the bias's gradient; it computes GELU's values once more. The hidden layer's
// gradient never exists as a whole, nor does the layer itself without gradients. A token costs 4 width hidden
// operations forward and 8 backward, and 12 hidden bytes in addition to the products. Operands of the
// products are backend.operands.
at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        Activation activation, const Backend& backend);

namespace reference {

// The composition of LibTorch's operations.
at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        Activation activation, Operands operands);

}  // namespace reference

}  // namespace che
