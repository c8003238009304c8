// CoPE, contextual positions (arXiv 2405.18719), in a two-sided form for encoders: gates
// g = sigmoid(A) of the scaled logits A count towards a key, p_ij = sum of g_ik over k = j .. i for
// j <= i and over k = i .. j for j > i, at most 63; S = A + q_i E_side at p_ij, interpolated between
// floor and ceil of p_ij. E_left and E_right (d_head, 64) are shared by the heads of a layer. A decoder has
// the paper's form, E_left alone.
//
// As in the paper's listing, q is not scaled where it meets E, though A is.
#pragma once

#include "models/settings/encoding_entry.h"

namespace che {

inline const Registered<EncodingEntry> cope_entry{{
    .name = "cope",
    .summary = "contextual positions: the encoding of a count of gated keys",
    .formula = "q_i E_side[p_ij], p_ij the sum of sigmoid(A_ik) from i to j, at most 63",
    .source = "Golovneva et al., arXiv 2405.18719",
    .reads_positions = false,
    .place = 9,
    .right_side_is_ours = [](const AnyOptions&) { return true; },
}};

}  // namespace che
