// Selective RoPE (arXiv 2511.17388): pairs of features of queries and keys turn as in RoPE, by angles that
// the layer's input x adds up from token to token,
//
//   angle_tk = tau_k sum over l = 0 .. t of phi_lk,  tau_k = 500000^(-2k/d), k = 0 .. d/2 - 1, d = d_head,
//   phi_l = sum over s of c_s W2 W1 n(x_(l+s)),
//
// with phi and c (of each feature) by head and pair, W1 to `rank` features, and n the division of each head's
// part of x by its length. Tokens beyond the sequence are zero. In a decoder, and in the released program
// (github.com/timurcarstensen/selective-rope), s = -3 .. 0; in an encoder s = -3 .. 3, which is ours. A logit
// depends on the difference of two angles, so that one sum serves keys on both sides.
//
// Parameters start as the released module's, not as its language models, which draw all weights with sigma
// 0.02.
#pragma once

#include <cstdint>
#include <optional>

#include "models/settings/encoding_entry.h"

namespace che {

struct SelectiveRopeOptions {
  std::int64_t rank = 16;

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"rank", "features between the layer's input and the angles"}, rank, 1, 65536);
  }
};

inline const Registered<EncodingEntry> selective_rope_entry{{
    .name = "selective_rope",
    .summary = "queries and keys rotated by angles that the input adds up",
    .formula = "pairs turn by 500000^(-2k/d_head) sum_(l <= t) phi_lk, phi a convolution of W2 W1 x/|x|",
    .source = "Movahedi et al., arXiv 2511.17388",
    .reads_positions = false,
    .place = 14,
    .options = SelectiveRopeOptions(),
    .right_side_is_ours = [](const AnyOptions&) { return true; },
    .problem = [](const EncodingUse& use) { return odd_head_width(use, "selective_rope"); },
}};

}  // namespace che
