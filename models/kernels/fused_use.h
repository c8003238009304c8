#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <initializer_list>

#include "models/kernels/kernels.h"

namespace che {

// Whether a fused operation takes `x`.
inline bool runs_fused(Kernels kernels, const at::Tensor& x) {
  return kernels == Kernels::kFused && x.is_cpu() && x.scalar_type() == at::kFloat;
}

// Whether a backward pass may ask for the gradient of any of `inputs`.
inline bool needs_gradient(std::initializer_list<at::Tensor> inputs) {
  if (!c10::GradMode::is_enabled()) return false;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

}  // namespace che
