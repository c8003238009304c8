#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "models/kernels/reference/attention_terms.h"

namespace che {

// What attention computes before its softmax.
struct AttentionLogits {
  at::Tensor scaled;  // q k / sqrt(head_width), A: (replicas, batch, heads, queries, keys)
  at::Tensor bias;    // The additive bias B: (replicas or 1, heads, queries, keys), or undefined
  at::Tensor total;   // What the softmax sees, like `scaled`.
};

using LogitsObserver = std::function<void(const AttentionLogits& logits)>;

namespace reference {

// See attention() of models/kernels/attention.h. Every intermediate is in memory, f's hidden layer (replicas,
// batch, queries, keys, hidden) included.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const LogitsObserver& observer);

// What the softmax sees; see CustomLogits for the shapes.
at::Tensor logits(const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k,
                  const AttentionTerms& terms);

}  // namespace reference
}  // namespace che
