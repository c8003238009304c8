#pragma once

#include <ATen/core/Tensor.h>

namespace che::reference {

// See feed_forward() of models/kernels/feed_forward.h.
at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1,
                        const at::Tensor& w2);

}  // namespace che::reference
