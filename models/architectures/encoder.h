// The benchmark's encoder (post-norm, no mask, arXiv 2305.16843).
#pragma once

#include "models/settings/model_entry.h"

namespace che {

inline const Registered<ModelEntry> encoder_entry{{
    .name = "encoder",
    .summary = "transformer in which every token attends to every other",
    .source = "Ruoss et al., arXiv 2305.16843",
    // A layer has 24 T d^2 + 4 T^2 d, plus 6 T^2 h D with DAPE (times three with DAPE V2).
    .operations =
        [](const AnyOptions& options, const std::optional<DapeOptions>& dape, double tokens) {
          const auto& shape = options.as<ModelShape>();
          const auto d = static_cast<double>(shape.width);
          const auto dape_width = static_cast<double>(dape ? shape.heads * dape->hidden * dape->taps() : 0);
          return static_cast<double>(shape.layers) * tokens *
                 (24 * d * d + tokens * (4 * d + 6 * dape_width));
        },
}};

}  // namespace che
