#include "models/kernels/reference/residual_norm.h"

#include <ATen/ATen.h>

#include <vector>

#include "models/kernels/reference/dropout.h"

namespace che::reference {

at::Tensor residual_norm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& y_bias,
                         const at::Tensor& scale, const at::Tensor& offset, const DropoutSite& site,
                         double epsilon) {
  const std::vector<std::int64_t> shape{x.size(0), 1, 1, x.size(3)};
  const at::Tensor added = y_bias.defined() ? y + y_bias.view(shape) : y;
  const at::Tensor sum = x + dropout(added, site);
  return at::layer_norm(sum, {x.size(3)}, {}, {}, epsilon) * scale.view(shape) + offset.view(shape);
}

}  // namespace che::reference
