#include "models/kernels/feed_forward.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "models/kernels/bias_relu_simd.h"
#include "models/kernels/fused_use.h"
#include "models/kernels/pieces.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kBlockTokens = 1024;
constexpr std::int64_t kPiecesOfBlock = 8;

// Rows `first` .. of (replicas, tokens, features), one block of them.
at::Tensor block_of(const at::Tensor& rows, std::int64_t first) {
  return rows.narrow(1, first, std::min(kBlockTokens, rows.size(1) - first));
}

// Calls f(replica, piece, first, count) for pieces of a block's rows.
template <class F>
void for_each_rows(const at::Tensor& block, const F& f) {
  constexpr std::int64_t kRows = kBlockTokens / kPiecesOfBlock;
  const std::int64_t rows = block.size(1);
  const std::int64_t pieces = (rows + kRows - 1) / kRows;
  Pieces{block.size(0) * pieces, block.size(0) * pieces}.for_each([&](std::int64_t, std::int64_t item) {
    const std::int64_t first = item % pieces * kRows;
    f(item / pieces, item % pieces, first, std::min(kRows, rows - first));
  });
}

void bias_relu_in_place(const at::Tensor& block, const at::Tensor& bias) {
  RECORD_FUNCTION("che::bias_relu", {});
  for_each_rows(block, [&](std::int64_t replica, std::int64_t, std::int64_t first, std::int64_t count) {
    add_bias_relu(block.mutable_data_ptr<float>() + replica * block.stride(0) + first * block.stride(1),
                  bias.const_data_ptr<float>() + replica * bias.stride(0), count, block.size(2));
  });
}

// The gradient of a block behind its ReLU becomes that before it; its sum over the block is added to
// d_bias, (replicas, pieces, hidden).
void mask_gradient(const at::Tensor& d_block, const at::Tensor& active, const at::Tensor& d_bias) {
  RECORD_FUNCTION("che::bias_relu", {});
  for_each_rows(
      d_block, [&](std::int64_t replica, std::int64_t piece, std::int64_t first, std::int64_t count) {
        const auto rows = [&](const at::Tensor& values, std::int64_t row) {
          return values.mutable_data_ptr<float>() + replica * values.stride(0) + row * values.stride(1);
        };
        relu_gradient(rows(d_block, first), rows(active, first), rows(d_bias, piece), count, d_block.size(2));
      });
}

class FeedForward : public torch::autograd::Function<FeedForward> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& w1,
                            const at::Tensor& b1, const at::Tensor& w2, bool keep_hidden) {
    const at::Tensor rows = x.view({x.size(0), -1, x.size(3)});  // (replicas, tokens, width)
    const std::int64_t tokens = rows.size(1);
    const at::Tensor hidden = at::empty(
        {rows.size(0), keep_hidden ? tokens : std::min(tokens, kBlockTokens), w1.size(2)}, x.options());
    const at::Tensor out = at::empty(x.sizes(), x.options());
    const at::Tensor out_rows = out.view(rows.sizes());
    for (std::int64_t first = 0; first < tokens; first += kBlockTokens) {
      const at::Tensor input = block_of(rows, first);
      at::Tensor block = keep_hidden ? block_of(hidden, first) : hidden.narrow(1, 0, input.size(1));
      at::bmm_out(block, input, w1);
      bias_relu_in_place(block, b1);
      at::Tensor result = block_of(out_rows, first);
      at::bmm_out(result, block, w2);
    }
    if (keep_hidden) context->save_for_backward({rows, w1, w2, hidden});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &rows = saved[0], &w1 = saved[1], &w2 = saved[2], &hidden = saved[3];
    const at::Tensor d_out = gradients[0].contiguous().view(rows.sizes());
    const at::Tensor d_rows = at::empty(rows.sizes(), rows.options());
    at::Tensor d_w1 = at::empty(w1.sizes(), w1.options());
    at::Tensor d_w2 = at::empty(w2.sizes(), w2.options());
    const std::int64_t tokens = rows.size(1);
    const at::Tensor d_hidden =
        at::empty({rows.size(0), std::min(tokens, kBlockTokens), w1.size(2)}, rows.options());
    const at::Tensor d_b1 = at::zeros({rows.size(0), kPiecesOfBlock, w1.size(2)}, rows.options());
    for (std::int64_t first = 0; first < tokens; first += kBlockTokens) {
      const double beta = first == 0 ? 0 : 1;
      const at::Tensor d_result = block_of(d_out, first);
      const at::Tensor active = block_of(hidden, first);
      at::Tensor d_block = d_hidden.narrow(1, 0, active.size(1));
      at::bmm_out(d_block, d_result, w2.transpose(1, 2));
      mask_gradient(d_block, active, d_b1);
      at::baddbmm_out(d_w2, d_w2, active.transpose(1, 2), d_result, beta);
      at::baddbmm_out(d_w1, d_w1, block_of(rows, first).transpose(1, 2), d_block, beta);
      at::Tensor d_input = block_of(d_rows, first);
      at::bmm_out(d_input, d_block, w1.transpose(1, 2));
    }
    return {d_rows.view(gradients[0].sizes()), d_w1, d_b1.sum(1), d_w2, at::Tensor()};
  }
};

}  // namespace

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        Kernels kernels) {
  const std::int64_t replicas = x.size(0);
  check_operand("feed_forward: w1", w1, {replicas, x.size(3), w1.size(-1)}, x);
  check_operand("feed_forward: b1", b1, {replicas, w1.size(2)}, x);
  check_operand("feed_forward: w2", w2, {replicas, w1.size(2), x.size(3)}, x);
  if (!runs_fused(kernels, x)) {
    const at::Tensor hidden = at::relu(at::baddbmm(b1.unsqueeze(1), x.flatten(1, 2), w1));
    return at::bmm(hidden, w2).view(x.sizes());
  }
  return FeedForward::apply(x.contiguous(), w1, b1.contiguous(), w2, needs_gradient({x, w1, b1, w2}));
}

}  // namespace che
