#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/dispatch.h"
#include "models/kernels/forms/dropout.h"

namespace che {

// x (replicas, batch, tokens, features) with values zeroed and the rest scaled so that the expectation
// is kept. Row 0 of x is token `first_token` of its sequence. Throws Error unless there is a seed for
// each replica.
at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend);

}  // namespace che
