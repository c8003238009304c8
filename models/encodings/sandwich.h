// Sandwich (arXiv 2212.10356): what is left of q k when sinusoids are added to queries and keys and
// only their own product is kept, bias (sum over k = 1 .. D/2 of cos(r 10000^(-2k/D)) - D/2) / (8h/H),
// r = j - i, for heads h = 1 .. H, with nothing to learn.
//
// As in NeMo's program, whose bidirectional form is this very one: the cosine is symmetric in r, and
// an encoder needs no other rule. D is a setting, 128 by
// default; in NeMo it is the width of a head.
#pragma once

#include <cstdint>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

struct SandwichOptions {
  std::int64_t frequencies = 64;  // D/2
  RandomizedDistance randomized_distance = RandomizedDistance::kPerOffset;

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"frequencies", "cosines in the sum, D/2"}, frequencies, 1, 65536);
    visit_randomized_distance(visit, randomized_distance);
  }
};

inline const Registered<EncodingEntry> sandwich_entry{{
    .name = "sandwich",
    .summary = "fixed bias, the product of two sinusoids",
    .formula = "(sum_k cos(r 10000^(-2k/D)) - D/2) / (8h/H), k = 1 .. D/2",
    .source = "Chi et al., arXiv 2212.10356",
    .needs_whole_positions = true,
    .gives_bias = true,
    .place = 10,
    .options = SandwichOptions(),
}};

}  // namespace che
