#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/forms/dropout.h"

namespace che::reference {

// See residual_norm() of models/kernels/residual_norm.h.
at::Tensor residual_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                         const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                         double epsilon);

}  // namespace che::reference
