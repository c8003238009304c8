#pragma once

#include <vector>

#include "models/ops/attention/attention_terms.h"
#include "models/parameters/parameter_set.h"
#include "models/settings/encoding_entry.h"
#include "models/settings/model_shape.h"
#include "models/settings/parameter_spec.h"

namespace che {

// DAPE (arXiv 2405.14722): the logits A and the bias B of a base encoding go through a small MLP f
// across heads, at every (query, key) separately:
//
//   concat_residual     A + B + f([A; B])     the paper's
//   concat              A + f([A; B])
//   add_residual        A + B + f(A + B)
//   bias_only_residual  A + B + f(B)
//   add                 A + f(A + B)
//   bias_only           A + f(B)
//   attention_only      A + f(A)              around `none`, which has no B
//
//   f(x) = W2 LeakyReLU_0.01(W1 x + b1) + b2,  hidden width D, inputs: heads A then heads B.
//
// DAPE V2 (arXiv 2410.04798), kernel 1x3: both layers of f are convolutions over neighbouring keys,
// (W x)_j = W_-1 x_(j-1) + W_0 x_j + W_1 x_(j+1), zero beyond the first and last key; the paper's D
// is 32. The released code is causal and zeroes [A; B] at keys after the query before the first layer, and so
// does a decoder; an encoder keeps them.

// Returns f's parameters in a layer.
std::vector<ParameterSpec> dape_parameters(const DapeOptions& options, const ModelShape& shape);

// Returns what f, with its parameters among `own`, makes of the bias of `base`.
AdaptedBias dape_terms(const DapeOptions& options, const AttentionTerms& base, const ParameterView& own);

// The formula `variant` above for the bias B with f's tensors; `mlp.reads` is set by it.
AdaptedBias dape_terms(const PairValues& bias, PairMlp mlp, DapeVariant variant);

}  // namespace che
