#include "models/ops/residual_norm/residual_norm.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>
#include <vector>

#include "models/ops/dropout/dropout.h"

namespace che {
namespace {

constexpr float kEpsilon = 1e-5F;

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& offset) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape.front() = x.size(0);
  shape.back() = x.size(-1);
  return at::layer_norm(x, {x.size(-1)}, {}, {}, kEpsilon) * scale.view(shape) + offset.view(shape);
}

namespace reference {

SumAndNorm residual_sum_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                             const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                             const Backend& backend) {
  const at::Tensor added = y_bias.defined() ? y + y_bias.view({x.size(0), 1, 1, x.size(3)}) : y;
  const at::Tensor sum = x + reference::dropout(added, site, backend);
  return {sum, layer_norm(sum, scale, offset)};
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The tensors of one forward and backward pass.
struct NormOperands {
  at::Tensor x, y, y_bias, scale, offset;

  ResidualNormInputs inputs(const DropoutKeys& keys) const {
    return {.replicas = x.size(0),
            .batch = x.size(1),
            .rows = x.size(2),
            .width = x.size(3),
            .x = examples_of(x),
            .y = examples_of(y),
            .y_bias = y_bias.defined() ? y_bias.const_data_ptr<float>() : nullptr,
            .scale = scale.const_data_ptr<float>(),
            .offset = offset.const_data_ptr<float>(),
            .draws = keys.draws(),
            .epsilon = kEpsilon};
  }
};

// Gives the norm, and the sum where it is asked for.
class ResidualNorm : public torch::autograd::Function<ResidualNorm> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& y,
                               const std::optional<at::Tensor>& y_bias, const at::Tensor& scale,
                               const at::Tensor& offset, bool gives_sum, const DropoutKeys& keys,
                               const Backend& backend) {
    RECORD_FUNCTION("che::residual_norm", {});
    const NormOperands operands{x, y, y_bias.value_or(at::Tensor()), scale, offset};
    variable_list results{at::empty(x.sizes(), x.options())};
    ResidualNormInputs inputs = operands.inputs(keys);
    if (gives_sum) {
      results.push_back(at::empty(x.sizes(), x.options()));
      inputs.sum = mutable_examples_of(results[1]);
    }
    const at::Tensor moments = at::empty({x.size(0), x.size(1), x.size(2), 2}, x.options());
    run_kernel(backend, "residual norm", device_kernels(backend).residual_norm.forward, inputs,
               mutable_examples_of(results[0]), mutable_examples_of(moments));
    context->set_materialize_grads(false);
    context->save_for_backward({x, y, operands.y_bias, scale, offset, moments});
    keep(context, std::pair(keys, backend));
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    RECORD_FUNCTION("che::residual_norm", {});
    const variable_list saved = context->get_saved_variables();
    const auto& [keys, backend] = kept<std::pair<DropoutKeys, Backend>>(context);
    const NormOperands operands{saved[0], saved[1], saved[2], saved[3], saved[4]};
    const at::Tensor& moments = saved[5];
    const at::Tensor d_out =
        gradients[0].defined() ? gradients[0].contiguous() : at::zeros(operands.x.sizes(), moments.options());
    ResidualNormInputs inputs = operands.inputs(keys);
    at::Tensor d_sum;
    if (gradients.size() > 1 && gradients[1].defined()) {
      d_sum = gradients[1].contiguous();
      inputs.d_sum = examples_of(d_sum);
    }
    const at::Tensor d_x = at::empty(operands.x.sizes(), d_out.options());
    const at::Tensor d_y = at::empty(operands.x.sizes(), d_out.options());
    const at::Tensor d_y_bias = at::empty(operands.scale.sizes(), d_out.options());
    const at::Tensor d_scale = at::empty(operands.scale.sizes(), d_out.options());
    const at::Tensor d_offset = at::empty(operands.scale.sizes(), d_out.options());
    run_kernel(backend, "residual norm's gradient", device_kernels(backend).residual_norm.backward, inputs,
               examples_of(moments), examples_of(d_out),
               {.d_x = mutable_examples_of(d_x),
                .d_y = mutable_examples_of(d_y),
                .d_y_bias = d_y_bias.mutable_data_ptr<float>(),
                .d_scale = d_scale.mutable_data_ptr<float>(),
                .d_offset = d_offset.mutable_data_ptr<float>()});
    return {d_x,          d_y,         operands.y_bias.defined() ? d_y_bias : at::Tensor(),
            d_scale,      d_offset,    at::Tensor(),
            at::Tensor(), at::Tensor()};
  }
};

SumAndNorm sum_and_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                        const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                        const Backend& backend, bool gives_sum) {
  check_operand("residual_norm: y", y, x.sizes(), x);
  for (const at::Tensor& of_features : {y_bias, scale, offset}) {
    if (of_features.defined()) {
      check_operand("residual_norm: y_bias, scale, offset", of_features, {x.size(0), x.size(3)}, x);
    }
  }
  site.dropout.check_seeds(x.size(0));
  const KernelTable* const fused = fused_kernels(backend, x);
  if (fused == nullptr || !fused->residual_norm.serves(x.size(0), x.size(3), site.dropout.rate != 0)) {
    return reference::residual_sum_norm(x, y, y_bias, scale, offset, site, backend);
  }
  // Rows of an example follow each other; x may leave rows out between its examples.
  const bool rows_follow = x.stride(3) == 1 && x.stride(2) == x.size(3);
  const variable_list results =
      ResidualNorm::apply(rows_follow ? x : x.contiguous(), y.contiguous(),
                          y_bias.defined() ? std::optional(y_bias.contiguous()) : std::nullopt,
                          scale.contiguous(), offset.contiguous(), gives_sum, DropoutKeys(site), backend);
  return {gives_sum ? results[1] : at::Tensor(), results[0]};
}

}  // namespace

at::Tensor residual_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                         const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                         const Backend& backend) {
  return sum_and_norm(x, y, y_bias, scale, offset, site, backend, false).norm;
}

SumAndNorm residual_sum_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                             const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                             const Backend& backend) {
  return sum_and_norm(x, y, y_bias, scale, offset, site, backend, true);
}

}  // namespace che
