#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/forms/dropout.h"

namespace che::reference {

// See dropout() of models/kernels/dropout.h; throws Error unless there is a seed per replica.
at::Tensor dropout(const at::Tensor& x, const DropoutSite& site);

}  // namespace che::reference
