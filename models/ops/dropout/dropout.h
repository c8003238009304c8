#pragma once

#include <ATen/core/Tensor.h>

#include "models/ops/device/backend.h"
#include "models/ops/dropout/dropout_mask.h"

namespace che {

// x (replicas, batch, tokens, features) with values zeroed and the rest scaled so that the expectation
// is kept. Row 0 of x is token `first_token` of its sequence. Throws Error unless there is a seed for
// each replica.
at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend);

namespace reference {

// The composition of LibTorch's operations, with masks that the host draws.
at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend);

}  // namespace reference

}  // namespace che
