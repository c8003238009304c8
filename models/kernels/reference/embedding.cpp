#include "models/kernels/reference/embedding.h"

#include <ATen/ATen.h>

#include "models/kernels/reference/product.h"

namespace che::reference {

at::Tensor one_hot(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas,
                   const at::TensorOptions& options) {
  return at::one_hot(tokens, symbols).to(options).unsqueeze(0).expand({replicas, -1, -1, -1});
}

at::Tensor embedding(const at::Tensor& one_hot, const at::Tensor& table) {
  return product(one_hot.reshape({one_hot.size(0), -1, one_hot.size(3)}), table)
      .view({one_hot.size(0), one_hot.size(1), one_hot.size(2), -1});
}

}  // namespace che::reference
