// The benchmark's encoder (arXiv 2305.16843), which has no mask. Its blocks are post-norm, or pre-norm where
// the config says so.
#pragma once

#include "models/settings/model_entry.h"

namespace che {

// Returns the operations of the layers over `tokens` tokens that form `pairs` pairs of a query and a key.
// They are 24 d^2 a token and 4 d a pair, plus 6 h D a pair with DAPE (times three with DAPE V2).
inline double transformer_operations(const AnyOptions& options, const std::optional<DapeOptions>& dape,
                                     double tokens, double pairs) {
  const auto& shape = options.as<ModelShape>();
  const auto d = static_cast<double>(shape.width);
  const auto dape_width = static_cast<double>(dape ? shape.heads * dape->hidden * dape->taps() : 0);
  return static_cast<double>(shape.layers) * (tokens * 24 * d * d + pairs * (4 * d + 6 * dape_width));
}

inline const Registered<ModelEntry> encoder_entry{{
    .name = "encoder",
    .summary = "transformer in which every token attends to every other",
    .source = "Ruoss et al., arXiv 2305.16843",
    .operations =
        [](const AnyOptions& options, const std::optional<DapeOptions>& dape, double tokens) {
          return transformer_operations(options, dape, tokens, tokens * tokens);
        },
}};

}  // namespace che
