#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>

#include "models/ops/device/backend.h"

namespace che {

// The tokens of a batch, the same for all replicas, as rows of tables by symbol. Where no fused operation
// serves, up to kMostOneHot symbols are a product with ones and zeros, which keeps the bits of stored
// results. More symbols are gathered. This is faster once there are about as many symbols as features, and
// takes no memory for tokens times symbols.
class Embedding {
 public:
  static constexpr std::int64_t kMostOneHot = 128;

  // tokens (batch, tokens) of type long on the backend's device, each 0 <= token < symbols, which is not
  // checked. Throws Error for another number of dimensions, type or device.
  Embedding(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas, const Backend& backend);

  // For the tokens from `first` on, the rows of their symbols in table (replicas, symbols, width) of the
  // backend's type: (replicas, batch, tokens - first, width). The gradient of a row is the sum of those of
  // its tokens. Throws Error for a table of another shape.
  at::Tensor rows(const at::Tensor& table, std::int64_t first) const;

 private:
  Backend backend_;
  at::Tensor tokens_;
  std::int64_t symbols_;
  std::int64_t replicas_;
  bool is_fused_ = false;
  // Defined where no fused operation serves and symbols are few: (replicas, batch, tokens, symbols).
  at::Tensor one_hot_;
};

namespace reference {

// The composition of LibTorch's operations: (replicas, batch, tokens, symbols) of 0 and 1, which replicas
// share.
at::Tensor one_hot(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas,
                   const at::TensorOptions& options);

// Returns the rows of `table` that `one_hot` chooses.
at::Tensor embedding(const at::Tensor& one_hot, const at::Tensor& table);

// Returns the rows of the symbols of tokens (batch, tokens) in table (replicas, symbols, width). A row's
// gradient sums those of its tokens in their order.
at::Tensor gather(const at::Tensor& tokens, const at::Tensor& table);

}  // namespace reference

}  // namespace che
