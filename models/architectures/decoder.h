// The encoder with a causal mask: no token attends to a later one. It reads the input and the placeholders in
// one pass, as the encoder does.
#pragma once

#include "models/architectures/encoder.h"

namespace che {

inline const Registered<ModelEntry> decoder_entry{{
    .name = "decoder",
    .summary = "transformer in which every token attends to itself and those before it",
    .source = "Vaswani et al., arXiv 1706.03762, its decoder without cross-attention",
    .is_causal = true,
    .operations =
        [](const AnyOptions& options, const std::optional<DapeOptions>& dape, double tokens) {
          return transformer_operations(options, dape, tokens, tokens * (tokens + 1) / 2);
        },
}};

}  // namespace che
