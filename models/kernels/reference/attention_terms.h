#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <variant>

#include "models/kernels/reference/pair_values.h"

namespace che {

// DAPE's f (arXiv 2405.14722), an MLP across heads at every pair:
//
//   f(x) = w2 LeakyReLU_0.01(w1 x + b1) + b2.
//
// With three taps (arXiv 2410.04798) both layers are convolutions over neighbouring keys, (w x)_j = w_0
// x_(j-1)
// + w_1 x_j + w_2 x_(j+1), zero beyond the first and last key.
struct PairMlp {
  enum class Reads : std::uint8_t { kLogitsAndBias, kSum, kBias, kLogits };  // x: [A; B], A + B, B or A.

  at::Tensor w1;  // (replicas, inputs, hidden), or (replicas, 3, inputs, hidden)
  at::Tensor b1;  // (replicas, hidden)
  at::Tensor w2;  // (replicas, hidden, heads), or (replicas, 3, hidden, heads)
  at::Tensor b2;  // (replicas, heads)
  Reads reads = Reads::kLogitsAndBias;

  std::int64_t taps() const { return w1.dim() == 3 ? 1 : w1.size(1); }
};

// The logits become A [+ B] + f(A, B).
struct AdaptedBias {
  PairValues bias;  // B, by head; undefined where `mlp` reads the logits alone.
  bool adds_bias;   // Whether B itself is added.
  PairMlp mlp;
};

// Any other function of the scaled logits A = q k / sqrt(head_width), (replicas, batch, heads, queries,
// keys), and of q and k, (replicas, batch, heads, n, head_width), which gives logits like A. No fused
// operation covers it.
struct CustomLogits {
  std::function<at::Tensor(const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k)> apply;
};

// What becomes of the scaled logits before the softmax: B is added (undefined: nothing), or one of the
// others.
using AttentionTerms = std::variant<PairValues, AdaptedBias, CustomLogits>;

// The additive bias B in `terms`, adapted or not; undefined where there is none.
PairValues additive_bias(const AttentionTerms& terms);

}  // namespace che
