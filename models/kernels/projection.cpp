#include "models/kernels/projection.h"

#include <ATen/ATen.h>

#include "models/kernels/autograd_state.h"
#include "models/kernels/fused_use.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// (replicas, rows, features)
at::Tensor rows_of(const at::Tensor& x) { return x.reshape({x.size(0), -1, x.size(3)}); }

at::Tensor product(const at::Tensor& x, const at::Tensor& w) {
  return at::bmm(rows_of(x), w).view(x.sizes());
}

class Projection : public torch::autograd::Function<Projection> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& wq,
                               const at::Tensor& wk, const at::Tensor& wv, std::int64_t first_query) {
    context->save_for_backward({x, wq, wk, wv});
    context->saved_data["first_query"] = first_query;
    return {product(x.slice(2, first_query), wq), product(x, wk), product(x, wv)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &wq = saved[1], &wk = saved[2], &wv = saved[3];
    const std::int64_t first_query = context->saved_data["first_query"].toInt();
    const at::Tensor d_q = rows_of(gradients[0]);
    const at::Tensor d_k = rows_of(gradients[1]);
    const at::Tensor d_v = rows_of(gradients[2]);
    at::Tensor d_x = at::bmm(d_k, wk.transpose(1, 2));
    d_x.baddbmm_(d_v, wv.transpose(1, 2));
    if (first_query == 0) {
      d_x.baddbmm_(d_q, wq.transpose(1, 2));
    } else {
      d_x.view(x.sizes()).slice(2, first_query) +=
          at::bmm(d_q, wq.transpose(1, 2)).view(gradients[0].sizes());
    }
    const auto d_weight = [](const at::Tensor& input, const at::Tensor& gradient) {
      return at::bmm(rows_of(input).transpose(1, 2), gradient);
    };
    return {d_x.view(x.sizes()), d_weight(x.slice(2, first_query), d_q), d_weight(x, d_k), d_weight(x, d_v),
            at::Tensor()};
  }
};

}  // namespace

std::array<at::Tensor, 3> attention_inputs(const at::Tensor& x, const at::Tensor& wq, const at::Tensor& wk,
                                           const at::Tensor& wv, std::int64_t first_query, Kernels kernels) {
  if (!runs_fused(kernels, x)) return {product(x.slice(2, first_query), wq), product(x, wk), product(x, wv)};
  const variable_list inputs = Projection::apply(x, wq, wk, wv, first_query);
  return {inputs[0], inputs[1], inputs[2]};
}

}  // namespace che
