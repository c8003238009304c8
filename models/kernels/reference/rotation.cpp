#include "models/kernels/reference/rotation.h"

#include <ATen/ATen.h>

namespace che::reference {

at::Tensor rotate(const at::Tensor& heads, const at::Tensor& sine, const at::Tensor& cosine) {
  const auto over_heads = [&](const at::Tensor& table) { return table.to(heads.options()).unsqueeze(1); };
  const at::Tensor even = heads.slice(4, 0, heads.size(4), 2);
  const at::Tensor odd = heads.slice(4, 1, heads.size(4), 2);
  return at::stack({even * over_heads(cosine) - odd * over_heads(sine),
                    odd * over_heads(cosine) + even * over_heads(sine)},
                   -1)
      .flatten(-2);
}

}  // namespace che::reference
