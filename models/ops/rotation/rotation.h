#pragma once

#include <ATen/core/Tensor.h>

#include "models/ops/device/backend.h"

namespace che {

// Turns neighbouring feature pairs (2k, 2k+1) of `heads` (replicas, batch, tokens, heads, head_width)
// by the angles whose sines and cosines are given, (tokens, head_width / 2) each (arXiv 2104.09864). Fused,
// a value costs 8 bytes of memory traffic.
at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine,
                  const Backend& backend);

namespace reference {

// The composition of LibTorch's operations. The angles may also be those of every head, (replicas, batch,
// tokens, heads, head_width / 2), and have gradients.
at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine);

}  // namespace reference

}  // namespace che
