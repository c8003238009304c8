#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <string_view>

#include "models/kernels/kernels.h"

namespace che {

// Whether a fused operation takes `x`.
bool runs_fused(Kernels kernels, const at::Tensor& x);

// Whether a backward pass may ask for the gradient of any of `inputs`; undefined ones are none.
bool needs_gradient(std::initializer_list<at::Tensor> inputs);

// Throws Error unless `x`, called `name` in the message, has that shape and the type and device of
// `like`.
void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, const at::Tensor& like);

}  // namespace che
