#include "models/ops/rotation/rotation.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <fmt/core.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"

namespace che {

namespace reference {

at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine) {
  const auto over_heads = [&](const at::Tensor& table) {
    return table.dim() == 2 ? table.to(heads.options()).unsqueeze(1) : table;
  };
  const at::Tensor even = heads.slice(4, 0, heads.size(4), 2);
  const at::Tensor odd = heads.slice(4, 1, heads.size(4), 2);
  return at::stack({even * over_heads(cosine) - odd * over_heads(sine),
                    odd * over_heads(cosine) + even * over_heads(sine)},
                   -1)
      .flatten(-2);
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor rotated(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine, bool backwards,
                   const Backend& backend) {
  RECORD_FUNCTION("che::attention", {});
  const at::Tensor out = at::empty(heads.sizes(), heads.options());
  run_kernel(backend, "rotation", device_kernels(backend).rotation.rotate,
             {.examples = heads.size(0) * heads.size(1),
              .tokens = heads.size(2),
              .heads = heads.size(3),
              .head_width = heads.size(4),
              .values = heads.const_data_ptr<float>(),
              .sine = sine.const_data_ptr<float>(),
              .cosine = cosine.const_data_ptr<float>(),
              .backwards = backwards},
             out.mutable_data_ptr<float>());
  return out;
}

class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& heads, const at::Tensor& sine,
                            const at::Tensor& cosine, const Backend& backend) {
    keep(context, backend);
    context->save_for_backward({sine, cosine});
    return rotated(heads, sine, cosine, false, backend);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {rotated(gradients[0].contiguous(), saved[0], saved[1], true, kept<Backend>(context)),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine,
                  const Backend& backend) {
  for (const at::Tensor& table : {sine, cosine}) {
    check_operand("rotate: sine, cosine", table, {heads.size(2), heads.size(4) / 2}, table);
  }
  if (heads.size(4) % 2 != 0) {
    throw Error(fmt::format("rotate: a head's width must be even, got {}", heads.size(4)),
                ErrorKind::kRuntime);
  }
  if (fused_kernels(backend, heads) == nullptr) return reference::rotate(heads, sine, cosine);
  return Rotation::apply(heads.contiguous(), sine.to(heads.options()).contiguous(),
                         cosine.to(heads.options()).contiguous(), backend);
}

}  // namespace che
