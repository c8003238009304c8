#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/forms/adam_form.h"

namespace che::reference {

// See adam_update() of models/kernels/adam_update.h.
at::Tensor adam_update(const at::Tensor& gradients, const at::Tensor& learning_rates,
                       const at::Tensor& first_moment, const at::Tensor& second_moment,
                       const at::Tensor& values, const AdamSettings& settings);

}  // namespace che::reference
