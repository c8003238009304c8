// ALiBi (arXiv 2108.12409) in the encoder form of the released "Randomized positional encodings"
// program: bias m_h (-|r| + 0.5 [j < i]), r = j - i, fixed slopes m_h. In a decoder it is the paper's own
// -m_h (i - j).
#pragma once

#include <cstdint>
#include <vector>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

struct AlibiOptions {
  DistanceOptions distance{.direction = Direction::kHalfOffset};  // As the released encoder.

  void visit_fields(FieldVisitor& visit) { distance.visit_fields(visit); }
};

// The slope of each head: 2^(-8h/H), h = 1..H, for H a power of two. For other H, the slopes of the largest
// power of two P below H, followed by every second one of 2P's until there are H.
std::vector<double> alibi_slopes(std::int64_t heads);

inline const Registered<EncodingEntry> alibi_entry{{
    .name = "alibi",
    .summary = "fixed linear bias on the distance",
    .formula = "m_h (-|r| + 0.5 [j < i]), m_h = 2^(-8h/H)",
    .source = "Press et al., arXiv 2108.12409",
    .gives_bias = true,
    .place = 5,
    .options = AlibiOptions(),
    .encoder_options = {"direction"},
}};

}  // namespace che
