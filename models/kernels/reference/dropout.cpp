#include "models/kernels/reference/dropout.h"

#include <ATen/ATen.h>

#include <vector>

#include "models/kernels/cuda_host/step_uploads.h"

namespace che::reference {
namespace {

// Of each value of (replicas, batch, rows, width).
at::Tensor factors(const std::vector<std::int64_t>& shape, const DropoutSite& site) {
  const Dropout& dropout = site.dropout;
  at::Tensor all = at::empty(shape, at::TensorOptions().dtype(at::kFloat));
  const auto per_example = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto first_index = static_cast<std::uint64_t>(site.first_token * shape[3]);
  float* row = all.data_ptr<float>();
  for (const std::int64_t seed : dropout.seeds) {
    for (std::int64_t b = 0; b < shape[1]; ++b, row += per_example) {
      dropout_factors(dropout.rate, static_cast<std::uint64_t>(seed), dropout.purpose, dropout.step,
                      dropout.first_example + static_cast<std::uint64_t>(b), site.site, first_index,
                      {row, per_example});
    }
  }
  return all;
}

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutSite& site) {
  const Dropout& dropout = site.dropout;
  if (dropout.rate == 0) return x;
  dropout.check_seeds(x.size(0));
  return x * upload_each_step([shape = x.sizes().vec(), site] { return factors(shape, site); }, x.options());
}

}  // namespace che::reference
