#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/dispatch.h"
#include "models/kernels/reference/attention.h"
#include "models/kernels/reference/attention_terms.h"

namespace che {

// softmax(A changed by `terms`) v over all keys, A = q k / sqrt(head_width). q (replicas, batch, queries,
// heads, head_width), the last ones of the tokens; k, v (replicas, batch, keys, heads, head_width); the
// result is like q. `observer`, where there is one, is called with the logits, which keeps attention from
// being fused.
//
// On a CPU, fused: queries pass 16 at a time. Without gradients, memory holds the logits of 16 queries per
// thread; with them, attention's weights are kept, (replicas, batch, heads, keys, queries). f's hidden layer,
// (batch, queries, keys, hidden), is never written; its backward pass forms it again. Operations per pair: 4
// width forward and 8 backward; with f, another 4 heads hidden forward, and 10 heads hidden + 2 width
// backward. Bytes of memory traffic per pair with gradients: 4 heads forward, 4 heads backward. Not fused:
// CustomLogits, f with three taps, shapes that the device's form does not serve.
//
// Throws Error for shapes that do not fit together.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const Backend& backend, const LogitsObserver& observer);

// Whether attention() is fused where `form` is the device's. `shape` is that of the
// operands; its member `hidden` is not read.
bool covers(const AttentionForm& form, const AttentionTerms& terms, AttentionShape shape, bool has_gradients);

}  // namespace che
