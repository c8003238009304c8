#include "models/kernels/rotation.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/core.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/kernels/fused_use.h"
#include "models/kernels/pieces.h"
#include "models/kernels/rotation_simd.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kMostPieces = 64;

// tables: (tokens, {cosine, sine}, head_width), both as rotate_heads() reads them.
at::Tensor turned(const at::Tensor& heads, const at::Tensor& tables, float sign) {
  RECORD_FUNCTION("che::attention", {});
  const at::Tensor out = at::empty(heads.sizes(), heads.options());
  const std::int64_t tokens = heads.size(2);
  const std::int64_t width = heads.size(4);
  const std::int64_t row = heads.size(3) * width;
  const float* const in = heads.const_data_ptr<float>();
  const float* const table = tables.const_data_ptr<float>();
  float* const result = out.mutable_data_ptr<float>();
  Pieces{heads.size(0) * heads.size(1), kMostPieces}.for_each([&](std::int64_t, std::int64_t example) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t at = (example * tokens + t) * row;
      const float* const cosine = table + t * 2 * width;
      rotate_heads(in + at, heads.size(3), width, cosine, cosine + width, sign, result + at);
    }
  });
  return out;
}

class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& heads, const at::Tensor& tables) {
    context->save_for_backward({tables});
    return turned(heads, tables, 1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {turned(gradients[0].contiguous(), context->get_saved_variables()[0], -1), at::Tensor()};
  }
};

}  // namespace

at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine,
                  Kernels kernels) {
  for (const at::Tensor& table : {sine, cosine}) {
    check_operand("rotate: sine, cosine", table, {heads.size(2), heads.size(4) / 2}, table);
  }
  if (heads.size(4) % 2 != 0) {
    throw Error(fmt::format("rotate: a head's width must be even, got {}", heads.size(4)), Fault::kRuntime);
  }
  if (runs_fused(kernels, heads)) {
    // Each pair's cosine twice, its sine with both signs.
    const at::Tensor tables = at::stack({at::stack({cosine, cosine}, 2), at::stack({-sine, sine}, 2)}, 1)
                                  .flatten(2)
                                  .to(heads.options());
    return Rotation::apply(heads.contiguous(), tables.contiguous());
  }
  const auto over_heads = [&](const at::Tensor& table) { return table.to(heads.options()).unsqueeze(1); };
  const at::Tensor even = heads.slice(4, 0, heads.size(4), 2);
  const at::Tensor odd = heads.slice(4, 1, heads.size(4), 2);
  return at::stack({even * over_heads(cosine) - odd * over_heads(sine),
                    odd * over_heads(cosine) + even * over_heads(sine)},
                   -1)
      .flatten(-2);
}

}  // namespace che
