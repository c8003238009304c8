#include "models/kernels/fused_use.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace che {

bool runs_fused(Kernels kernels, const at::Tensor& x) {
  return kernels == Kernels::kFused && x.is_cpu() && x.scalar_type() == at::kFloat;
}

bool needs_gradient(std::initializer_list<at::Tensor> inputs) {
  return c10::GradMode::is_enabled() &&
         std::any_of(inputs.begin(), inputs.end(),
                     [](const at::Tensor& input) { return input.defined() && input.requires_grad(); });
}

void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape,
                   const at::Tensor& like) {
  if (x.sizes() == shape && x.scalar_type() == like.scalar_type() && x.device() == like.device()) return;
  throw Error(fmt::format("{}: expected shape ({}) and the first operand's type and device, got shape ({})",
                          name, fmt::join(shape, ", "), fmt::join(x.sizes(), ", ")),
              Fault::kRuntime);
}

}  // namespace che
