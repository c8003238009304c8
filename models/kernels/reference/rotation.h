#pragma once

#include <ATen/core/Tensor.h>

namespace che::reference {

// See rotate() of models/kernels/rotation.h.
at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine);

}  // namespace che::reference
