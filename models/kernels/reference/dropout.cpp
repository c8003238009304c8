#include "models/kernels/reference/dropout.h"

#include <ATen/ATen.h>

namespace che::reference {

at::Tensor dropout(const at::Tensor& x, const DropoutSite& site) {
  const Dropout& dropout = site.dropout;
  if (dropout.rate == 0) return x;
  dropout.check_seeds(x.size(0));
  const at::Tensor factors = at::empty(x.sizes(), at::TensorOptions().dtype(at::kFloat));
  const std::int64_t batch = x.size(1);
  const auto per_example = static_cast<std::size_t>(x.size(2) * x.size(3));
  const auto first_index = static_cast<std::uint64_t>(site.first_token * x.size(3));
  float* row = factors.data_ptr<float>();
  for (const std::int64_t seed : dropout.seeds) {
    for (std::int64_t b = 0; b < batch; ++b, row += per_example) {
      dropout_factors(dropout.rate, static_cast<std::uint64_t>(seed), dropout.purpose, dropout.step,
                      dropout.first_example + static_cast<std::uint64_t>(b), site.site, first_index,
                      {row, per_example});
    }
  }
  return x * factors.to(x.options());
}

}  // namespace che::reference
