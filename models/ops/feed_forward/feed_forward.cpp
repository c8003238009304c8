#include "models/ops/feed_forward/feed_forward.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {

namespace reference {

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        Activation activation, Operands operands) {
  const at::Tensor hidden = product(x.flatten(1, 2), w1, operands) + b1.unsqueeze(1);
  const auto gelu = [](const at::Tensor& values) { return at::gelu(values); };
  return product(activation == Activation::kRelu ? at::relu(hidden) : by_replica(gelu, hidden), w2, operands)
      .view(x.sizes());
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows `first` .. of (replicas, tokens, features), one block of them.
at::Tensor block_of(const at::Tensor& rows, std::int64_t first, std::int64_t block) {
  return rows.narrow(1, first, std::min(block, rows.size(1) - first));
}

HiddenRows rows_of(const at::Tensor& block) {
  return {.replicas = block.size(0),
          .rows = block.size(1),
          .width = block.size(2),
          .data = block.mutable_data_ptr<float>(),
          .replica_stride = block.stride(0)};
}

class FeedForward : public torch::autograd::Function<FeedForward> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& w1,
                            const at::Tensor& b1, const at::Tensor& w2, bool keep_hidden,
                            Activation activation, const Backend& backend) {
    const KernelTable& kernels = device_kernels(backend);
    const std::int64_t block_rows = kernels.bias_relu.block_rows;
    keep(context, std::pair(activation, backend));
    const at::Tensor w1_operand = as_operand(w1, backend.operands);
    const at::Tensor w2_operand = as_operand(w2, backend.operands);
    const at::Tensor rows = x.view({x.size(0), -1, x.size(3)});  // (replicas, tokens, width)
    const std::int64_t tokens = rows.size(1);
    // Of GELU, whose slope depends on them, the values before it are kept.
    const at::Tensor hidden = at::empty(
        {rows.size(0), keep_hidden ? tokens : std::min(tokens, block_rows), w1.size(2)}, x.options());
    const at::Tensor scratch =
        keep_hidden && activation == Activation::kGelu
            ? at::empty({rows.size(0), std::min(tokens, block_rows), w1.size(2)}, x.options())
            : hidden;
    const at::Tensor out = at::empty(x.sizes(), x.options());
    const at::Tensor out_rows = out.view(rows.sizes());
    for (std::int64_t first = 0; first < tokens; first += block_rows) {
      const at::Tensor input = block_of(rows, first, block_rows);
      const at::Tensor block =
          keep_hidden ? block_of(hidden, first, block_rows) : hidden.narrow(1, 0, input.size(1));
      const at::Tensor active = scratch.is_same(hidden) ? block : scratch.narrow(1, 0, input.size(1));
      write_product(block, as_operand(input, backend.operands), w1_operand, Write::kReplace);
      {
        RECORD_FUNCTION("che::bias_relu", {});
        if (activation == Activation::kRelu) {
          run_kernel(backend, "bias and ReLU", kernels.bias_relu.forward, rows_of(block),
                     b1.const_data_ptr<float>());
        } else {
          run_kernel(backend, "bias and GELU", kernels.bias_gelu.forward, rows_of(block),
                     b1.const_data_ptr<float>(), rows_of(active));
        }
      }
      write_product(block_of(out_rows, first, block_rows), as_operand(active, backend.operands), w2_operand,
                    Write::kReplace);
    }
    if (keep_hidden) context->save_for_backward({rows, w1_operand, b1, w2_operand, hidden});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &rows = saved[0], &w1 = saved[1], &b1 = saved[2], &w2 = saved[3], &hidden = saved[4];
    const auto& [activation, backend] = kept<std::pair<Activation, Backend>>(context);
    const KernelTable& kernels = device_kernels(backend);
    const std::int64_t block_rows = kernels.bias_relu.block_rows;
    const at::Tensor d_out = gradients[0].contiguous().view(rows.sizes());
    const at::Tensor d_rows = at::empty(rows.sizes(), rows.options());
    const at::Tensor d_w1 = at::empty(w1.sizes(), rows.options());
    const at::Tensor d_w2 = at::empty(w2.sizes(), rows.options());
    const std::int64_t tokens = rows.size(1);
    const std::vector<std::int64_t> of_block{rows.size(0), std::min(tokens, block_rows), w1.size(2)};
    const at::Tensor d_hidden = at::empty(of_block, rows.options());
    const at::Tensor scratch =
        activation == Activation::kGelu ? at::empty(of_block, rows.options()) : at::Tensor();
    const at::Tensor d_b1 =
        at::zeros({rows.size(0), kernels.bias_relu.partial_sums, w1.size(2)}, rows.options());
    for (std::int64_t first = 0; first < tokens; first += block_rows) {
      const Write write = first == 0 ? Write::kReplace : Write::kAdd;
      const at::Tensor d_result = as_operand(block_of(d_out, first, block_rows), backend.operands);
      const at::Tensor block = block_of(hidden, first, block_rows);
      const at::Tensor active = scratch.defined() ? scratch.narrow(1, 0, block.size(1)) : block;
      const at::Tensor d_block = d_hidden.narrow(1, 0, block.size(1));
      write_product(d_block, d_result, w2.transpose(1, 2), Write::kReplace);
      {
        RECORD_FUNCTION("che::bias_relu", {});
        if (activation == Activation::kRelu) {
          run_kernel(backend, "bias and ReLU's gradient", kernels.bias_relu.backward, rows_of(d_block),
                     rows_of(active), d_b1.mutable_data_ptr<float>());
        } else {
          run_kernel(backend, "bias and GELU's gradient", kernels.bias_gelu.backward, rows_of(d_block),
                     rows_of(block), b1.const_data_ptr<float>(), rows_of(active),
                     d_b1.mutable_data_ptr<float>());
        }
      }
      const at::Tensor input = as_operand(block_of(rows, first, block_rows), backend.operands);
      const at::Tensor d_operand = as_operand(d_block, backend.operands);
      write_product(d_w2, as_operand(active, backend.operands).transpose(1, 2), d_result, write);
      write_product(d_w1, input.transpose(1, 2), d_operand, write);
      write_product(block_of(d_rows, first, block_rows), d_operand, w1.transpose(1, 2), Write::kReplace);
    }
    return {
        d_rows.view(gradients[0].sizes()), d_w1, d_b1.sum(1), d_w2, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        Activation activation, const Backend& backend) {
  const std::int64_t replicas = x.size(0);
  check_operand("feed_forward: w1", w1, {replicas, x.size(3), w1.size(-1)}, x);
  check_operand("feed_forward: b1", b1, {replicas, w1.size(2)}, x);
  check_operand("feed_forward: w2", w2, {replicas, w1.size(2), x.size(3)}, x);
  const KernelTable* const fused = fused_kernels(backend, x);
  if (fused == nullptr || (activation == Activation::kGelu && fused->bias_gelu.forward == nullptr)) {
    return reference::feed_forward(x, w1, b1, w2, activation, backend.operands);
  }
  return FeedForward::apply(x.contiguous(), w1, b1.contiguous(), w2, needs_gradient({x, w1, b1, w2}),
                            activation, backend);
}

}  // namespace che
