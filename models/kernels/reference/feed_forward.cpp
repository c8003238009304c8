#include "models/kernels/reference/feed_forward.h"

#include <ATen/ATen.h>

#include "models/kernels/reference/product.h"

namespace che::reference {

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1,
                        const at::Tensor& w2) {
  const at::Tensor hidden = at::relu(product(x.flatten(1, 2), w1) + b1.unsqueeze(1));
  return product(hidden, w2).view(x.sizes());
}

}  // namespace che::reference
