#include "models/kernels/reference/softmax.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Softmax : public torch::autograd::Function<Softmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::Tensor y = at::softmax(x, -1);
    context->save_for_backward({y});
    return y;
  }

  // dx = y (dy - sum of y dy)
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor y = context->get_saved_variables()[0];
    at::Tensor gradient = gradients[0] * y;
    const at::Tensor sums = gradient.sum(-1, /*keepdim=*/true);
    return {gradient.addcmul_(y, sums, -1)};
  }
};

}  // namespace

at::Tensor softmax_last(const at::Tensor& x) { return Softmax::apply(x); }

}  // namespace che
