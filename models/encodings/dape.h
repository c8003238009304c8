#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

#include "models/encodings/dape_options.h"
#include "models/encodings/encoding_hooks.h"

namespace che {

// DAPE (arXiv 2405.14722): the logits A and the bias B of a base encoding go through a small MLP f
// across heads, at every (query, key) on its own:
//
//   concat_residual     A + B + f([A; B])     the paper's
//   concat              A + f([A; B])
//   add_residual        A + B + f(A + B)
//   bias_only_residual  A + B + f(B)
//   add                 A + f(A + B)
//   bias_only           A + f(B)
//
//   f(x) = W2 LeakyReLU_0.01(W1 x + b1) + b2,  hidden width D, inputs: heads A then heads B.
//
// DAPE V2 (arXiv 2410.04798), kernel 1x3: both layers of f are convolutions over neighbouring keys,
// (W x)_j = W_-1 x_(j-1) + W_0 x_j + W_1 x_(j+1), zero beyond the first and last key; the paper's D
// is 32. The released code is causal and cuts the map's upper triangle; an encoder keeps it.
class Dape : public Encoding {
 public:
  Dape(std::unique_ptr<Encoding> base, DapeOptions options);

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override;
  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override;
  void project(const ParameterView& parameters) const override;
  // The base's, B.
  PairValues bias(const EncodingPlace& place, std::int64_t heads) const override;
  at::Tensor logits(const at::Tensor& logits, const at::Tensor& queries, const at::Tensor& keys,
                    const EncodingPlace& place) const override;
  // Nothing for kernel 1x3, where f reads neighbouring keys.
  std::optional<PairTerms> pair_terms(const EncodingPlace& place, std::int64_t heads) const override;
  // Nothing: f reads the logits.
  std::optional<EncodingTable> table(const EncodingPlace& place, const ModelShape& shape) const override;
  double working_values_per_pair(const ModelShape& shape) const override;
  double bias_values_per_pair(const ModelShape& shape) const override;

 private:
  std::unique_ptr<Encoding> base_;
  DapeOptions options_;
};

// f's tensors, each with a leading replicas axis; `inputs` is 2 heads for the concat
// variants, else heads.
struct DapeMlp {
  at::Tensor w1;  // (replicas, inputs, hidden), or (replicas, 3, inputs, hidden) for kernel 1x3
  at::Tensor b1;  // (replicas, hidden)
  at::Tensor w2;  // (replicas, hidden, heads), or (replicas, 3, hidden, heads)
  at::Tensor b2;  // (replicas, heads)
};

// The formula `variant` above. logits (replicas, batch, heads, queries, keys); bias (replicas or 1,
// heads, queries, keys); the result is like logits. Composed of library operations: it writes
// (replicas, batch, queries, keys, hidden) to memory.
at::Tensor dape_logits(const at::Tensor& logits, const at::Tensor& bias, const DapeMlp& mlp,
                       std::string_view variant);

}  // namespace che
