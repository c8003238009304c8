// No positional encoding (NoPE, arXiv 2305.19466): attention sees a set.
#pragma once

#include "models/settings/encoding_entry.h"

namespace che {

inline const Registered<EncodingEntry> none_entry{{
    .name = "none",
    .summary = "no positional encoding (NoPE)",
    .formula = "nothing",
    .source = "Kazemnejad et al., arXiv 2305.19466",
    .reads_positions = false,
    .does_nothing = true,
    .place = 0,
}};

}  // namespace che
