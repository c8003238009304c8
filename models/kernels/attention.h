#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "models/kernels/pair_values.h"

namespace che {

// DAPE's f (arXiv 2405.14722) at every pair on its own, across heads:
//
//   f(A, B) = w2 LeakyReLU_0.01(w1_logits A + w1_bias B + b1) + b2.
struct PairMlp {
  at::Tensor w1_logits;  // (replicas, heads, hidden)
  at::Tensor w1_bias;    // (replicas, heads, hidden)
  at::Tensor b1;         // (replicas, hidden)
  at::Tensor w2;         // (replicas, hidden, heads)
  at::Tensor b2;         // (replicas, heads)
};

// What becomes of the scaled logits A = q k / sqrt(head_width) before the softmax, at every pair on its
// own: A [+ B] [+ f(A, B)].
struct PairTerms {
  PairValues bias = {};             // B, by head.
  bool adds_bias = true;            // Whether B itself is added.
  std::optional<PairMlp> mlp = {};  // Needs a bias.
};

// Whether fused_attention() covers `terms`: f over at most 16 heads.
bool fused_attention_covers(const PairTerms& terms, std::int64_t heads);

// softmax(A [+ B] [+ f(A, B)]) v over all keys, in single precision on a CPU. q (replicas, batch,
// queries, heads, head_width), the last ones of the tokens; k, v (replicas, batch, keys, heads,
// head_width); the result is like q.
//
// Queries pass 16 at a time. Without gradients, memory holds the logits of 16 queries a thread; with
// them, attention's weights are kept, (replicas, batch, heads, keys, queries). f's hidden layer, (batch,
// queries, keys, hidden), is never written; its backward pass forms it again. Operations a pair: 4
// width forward and 8 backward; with f, another 4 heads hidden forward, and 10 heads hidden + 2 width
// backward. Bytes of memory traffic a pair with gradients: 4 heads forward, 4 heads backward. Throws
// Error for shapes that do not fit together.
at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const PairTerms& terms);

}  // namespace che
