#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "models/ops/attention/attention_terms.h"
#include "models/ops/device/backend.h"

namespace che {

// The values that attention computes before its softmax.
struct AttentionLogits {
  at::Tensor scaled;  // A, q k / sqrt(head_width) by the scale: (replicas, batch, heads, queries, keys)
  at::Tensor bias;    // The additive bias B as PairValues::dense() gives it, or undefined
  at::Tensor total;   // The softmax sees these, like `scaled`; in causal attention those up to the query.
};

using LogitsObserver = std::function<void(const AttentionLogits& logits)>;

struct AttentionOptions {
  // Multiplies A before the terms: (replicas or 1, 1, queries or 1, heads or 1, 1), undefined for 1.
  at::Tensor scale = {};
  // Is added to the logits after the terms, and no gradient is asked for: see Encoding::mask().
  PairValues mask = {};
  // A query sees no key after its own token. The mask comes after the terms.
  bool causal = false;
  // Is called with the logits, where there is one: those of one query, the first of which is 0, or of all.
  // They are computed apart from the result, which stays the same. Causal attention computes no other
  // query's.
  LogitsObserver observer = {};
  std::optional<std::int64_t> observed_query = {};
};

namespace reference {

// The composition of LibTorch's operations: every intermediate is in memory, f's hidden layer (replicas,
// batch, queries, keys, hidden) included.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const AttentionOptions& options);

// attention() of a causal operation without gradients, with memory for the logits of a few queries.
at::Tensor attention_in_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const AttentionTerms& terms, const AttentionOptions& options);

// Calls the observer of `options`.
void observe(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const AttentionTerms& terms,
             const AttentionOptions& options);

// Returns the logits that the softmax sees, before a causal mask; see CustomLogits for the shapes.
at::Tensor logits(const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k,
                  const AttentionTerms& terms, bool causal);

}  // namespace reference

// Softmax over the last dimension. Its values and its gradient do not depend on the number of threads. The
// gradient of LibTorch's own operation does, in version 2.11 for rows of 41 or 100 values but not for rows of
// 80.
at::Tensor softmax_last(const at::Tensor& x);

// softmax(A changed by `terms`) v over all keys, A = q k / sqrt(head_width). q (replicas, batch, queries,
// heads, width), the last ones of the tokens; k (replicas, batch, keys, heads, width) and v (replicas, batch,
// keys, heads, head_width); the result is like q with the width of v. `width` is head_width, or more where an
// encoding has widened q and k; then fused operations see v with zeros in the rest.
//
// On a CPU, fused: queries pass 16 at a time. Without gradients, memory holds the logits of 16 queries per
// thread. With them it keeps attention's weights, (replicas, batch, heads, keys, queries). f's hidden layer,
// (batch, queries, keys, hidden), is never written; its backward pass forms it again. Operations per pair: 4
// width forward and 8 backward; with f, another 4 heads hidden forward, and 10 heads hidden + 2 width
// backward. Bytes of memory traffic per pair with gradients: 4 heads forward, 4 heads backward. Causal
// attention passes over the keys up to the last one that a vector of queries sees. The bias of running sums
// and f's hidden bias, which then is one of running sums, too, are formed for each vector of queries. A
// device that does not serve them, and f of the bias alone, take every example as a replica of its own. Not
// fused: CustomLogits, f with three taps, shapes that the device's form does not serve. Without gradients
// these pass in blocks of queries where a causal operation has more than 2,048 of them.
//
// Throws Error for shapes that do not fit together.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const Backend& backend,
                     const AttentionOptions& options = {});

// Whether attention() is fused where `kernels` are the device's. `shape` is that of the
// operands; its member `hidden` is not read.
bool covers(const AttentionKernels& kernels, const AttentionTerms& terms, AttentionShape shape,
            bool has_gradients);

}  // namespace che
