#include "models/kernels/residual_norm.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <optional>
#include <utility>

#include "models/kernels/fused_use.h"
#include "models/kernels/pieces.h"
#include "models/kernels/residual_norm_simd.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr float kEpsilon = 1e-5F;
constexpr std::int64_t kPiecesOfReplica = 16;

at::Tensor composed(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                    const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site) {
  const std::vector<std::int64_t> shape{x.size(0), 1, 1, x.size(3)};
  const at::Tensor added = y_bias.defined() ? y + y_bias.view(shape) : y;
  const at::Tensor sum = x + site.dropout.apply(added, site.site, site.first_token);
  return at::layer_norm(sum, {x.size(3)}, {}, {}, kEpsilon) * scale.view(shape) + offset.view(shape);
}

// What one forward and backward pass work on.
struct Operands {
  at::Tensor x, y, y_bias, scale, offset;
  Dropout dropout;
  std::uint32_t site;
  std::int64_t first_token;

  std::int64_t replicas() const { return x.size(0); }
  std::int64_t width() const { return x.size(3); }
  Pieces examples() const { return {x.size(1), kPiecesOfReplica}; }

  ResidualNormRows rows(std::int64_t replica, std::int64_t example) const {
    const auto vector_of = [&](const at::Tensor& values) {
      return values.defined() ? values.const_data_ptr<float>() + replica * values.stride(0) : nullptr;
    };
    return {.rows = x.size(2),
            .width = width(),
            .x = x.const_data_ptr<float>() + replica * x.stride(0) + example * x.stride(1),
            .y = y.const_data_ptr<float>() + replica * y.stride(0) + example * y.stride(1),
            .y_bias = vector_of(y_bias),
            .scale = vector_of(scale),
            .offset = vector_of(offset),
            .dropout = dropout.bits(replica, example, site),
            .first_value = first_token * width(),
            .epsilon = kEpsilon};
  }
};

// An example's rows of a contiguous (replicas, batch, ...) tensor.
float* example_of(const at::Tensor& values, std::int64_t replica, std::int64_t example) {
  return values.mutable_data_ptr<float>() + replica * values.stride(0) + example * values.stride(1);
}

class ResidualNorm : public torch::autograd::Function<ResidualNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& y,
                            const std::optional<at::Tensor>& y_bias, const at::Tensor& scale,
                            const at::Tensor& offset, const DropoutSite& site) {
    RECORD_FUNCTION("che::residual_norm", {});
    const Operands operands{.x = x,
                            .y = y,
                            .y_bias = y_bias.value_or(at::Tensor()),
                            .scale = scale,
                            .offset = offset,
                            .dropout = site.dropout,
                            .site = site.site,
                            .first_token = site.first_token};
    const at::Tensor out = at::empty(x.sizes(), x.options());
    const at::Tensor moments = at::empty({x.size(0), x.size(1), x.size(2), 2}, x.options());
    for (std::int64_t r = 0; r < operands.replicas(); ++r) {
      operands.examples().for_each([&](std::int64_t, std::int64_t b) {
        residual_norm_forward(operands.rows(r, b), example_of(out, r, b), example_of(moments, r, b));
      });
    }
    context->save_for_backward({x, y, operands.y_bias, scale, offset, moments});
    context->saved_data["rest"] = c10::IValue::make_capsule(
        c10::make_intrusive<Rest>(operands.dropout, operands.site, operands.first_token));
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    RECORD_FUNCTION("che::residual_norm", {});
    const variable_list saved = context->get_saved_variables();
    const auto& rest = static_cast<const Rest&>(*context->saved_data.at("rest").toCapsule());
    const Operands operands{.x = saved[0],
                            .y = saved[1],
                            .y_bias = saved[2],
                            .scale = saved[3],
                            .offset = saved[4],
                            .dropout = rest.dropout,
                            .site = rest.site,
                            .first_token = rest.first_token};
    const at::Tensor& moments = saved[5];
    const at::Tensor d_out = gradients[0].contiguous();
    const at::Tensor d_x = at::empty(operands.x.sizes(), d_out.options());
    const at::Tensor d_y = at::empty(operands.x.sizes(), d_out.options());
    const Pieces examples = operands.examples();
    // (replicas, pieces, {y_bias, scale, offset}, width)
    const at::Tensor sums =
        at::zeros({operands.replicas(), examples.count(), 3, operands.width()}, d_out.options());
    for (std::int64_t r = 0; r < operands.replicas(); ++r) {
      examples.for_each([&](std::int64_t piece, std::int64_t b) {
        float* sum = example_of(sums, r, piece);
        residual_norm_backward(operands.rows(r, b), example_of(moments, r, b), example_of(d_out, r, b),
                               {.d_x = example_of(d_x, r, b),
                                .d_y = example_of(d_y, r, b),
                                .d_y_bias = sum,
                                .d_scale = sum + operands.width(),
                                .d_offset = sum + 2 * operands.width()});
      });
    }
    const at::Tensor totals = sums.sum(1);  // (replicas, 3, width)
    return {d_x,
            d_y,
            operands.y_bias.defined() ? totals.select(1, 0) : at::Tensor(),
            totals.select(1, 1),
            totals.select(1, 2),
            at::Tensor()};
  }

 private:
  // What the backward pass needs beside tensors.
  struct Rest : torch::CustomClassHolder {
    Rest(Dropout all, std::uint32_t one, std::int64_t first)
        : dropout(std::move(all)), site(one), first_token(first) {}
    Dropout dropout;
    std::uint32_t site;
    std::int64_t first_token;
  };
};

}  // namespace

at::Tensor residual_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                         const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                         Kernels kernels) {
  check_operand("residual_norm: y", y, x.sizes(), x);
  for (const at::Tensor& of_features : {y_bias, scale, offset}) {
    if (of_features.defined()) {
      check_operand("residual_norm: y_bias, scale, offset", of_features, {x.size(0), x.size(3)}, x);
    }
  }
  site.dropout.check_seeds(x.size(0));
  if (!runs_fused(kernels, x)) return composed(x, y, y_bias, scale, offset, site);
  // Rows of an example lie one behind the other; x may leave rows out between its examples.
  const bool rows_follow = x.stride(3) == 1 && x.stride(2) == x.size(3);
  return ResidualNorm::apply(rows_follow ? x : x.contiguous(), y.contiguous(),
                             y_bias.defined() ? std::optional(y_bias.contiguous()) : std::nullopt,
                             scale.contiguous(), offset.contiguous(), site);
}

}  // namespace che
