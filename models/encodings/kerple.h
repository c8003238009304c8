// KERPLE, logarithmic variant (arXiv 2205.09921): bias -p_h log(1 + a_h |r|), learned p, a > 0 in
// every layer.
//
// The released code is causal, as a decoder is, and says nothing of keys to the right: see DistanceOptions.
#pragma once

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

inline const Registered<EncodingEntry> kerple_entry{{
    .name = "kerple",
    .summary = "learned logarithmic bias on the distance",
    .formula = "-p_h log(1 + a_h |r|), learned p, a",
    .source = "Chi et al., arXiv 2205.09921",
    .gives_bias = true,
    .place = 6,
    .options = DistanceOptions(),
    .identity_defaults = DistanceOptions{.direction = Direction::kHalfOffset},
    .encoder_options = {"direction"},
}};

}  // namespace che
