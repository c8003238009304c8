#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/ops/device/backend.h"
#include "models/ops/dropout/dropout_mask.h"

namespace che {

// LayerNorm(x + drop(y + y_bias)) * scale + offset over the features, epsilon 1e-5: the end of a
// transformer's sub-layers (post-norm, arXiv 1706.03762).
//
// x, y (replicas, batch, tokens, width), y_bias (may be undefined), scale and offset (replicas,
// width); the result is like x. Fused, a value costs 12 bytes of memory traffic forward and 20
// backward: the dropout's mask is drawn from its counter both times and the sum formed again.
at::Tensor residual_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                         const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                         const Backend& backend);

// Both the sum x + drop(y + y_bias), which goes on beside the next sub-layer, and its LayerNorm, which that
// one reads (pre-norm, arXiv 2002.04745). Fused, the sum costs another 4 bytes a value each way.
struct SumAndNorm {
  at::Tensor sum, norm;  // Each like x.
};
SumAndNorm residual_sum_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                             const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                             const Backend& backend);

// LayerNorm(x) * scale + offset over the features of (replicas, ..., width), epsilon 1e-5.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& offset);

namespace reference {

// The composition of LibTorch's operations.
SumAndNorm residual_sum_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                             const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                             const Backend& backend);

}  // namespace reference

}  // namespace che
