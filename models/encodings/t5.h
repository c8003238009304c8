// T5's relative bias (arXiv 1910.10683): a learned scalar per head and bucket of r = j - i, added after
// scaling. An encoder has 16 buckets a side, the right one the upper half, a decoder 32 for the left one. Of
// the 2 n buckets of a side, |r| < n has its own, above it is n + floor(n log(|r| / n) / log(128 / n)), at
// most 2 n - 1.
//
// The released programs take the logarithm in single precision and find the same buckets.
#pragma once

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

enum class T5Table : std::uint8_t { kShared, kPerLayer };

// one: the scalar itself. sqrt_head: times sqrt(head width), from a table whose values start with Xavier's
// deviation sqrt(2 / (32 + heads)), as GPT-NeoX and the released decoder of arXiv 2405.14722 have it.
enum class T5Scale : std::uint8_t { kOne, kSqrtHead };

struct T5Options {
  T5Table table = T5Table::kShared;  // One table for all layers, as released, or one a layer.
  RandomizedDistance randomized_distance = RandomizedDistance::kPerOffset;
  T5Scale scale = T5Scale::kOne;

  void visit_fields(FieldVisitor& visit) {
    visit.choice(
        {.name = "table", .help = "one table for all layers or one per layer", .hashed_name = "t5_table"},
        table, {"shared", "per_layer"});
    visit_randomized_distance(visit, randomized_distance);
    visit.choice({"scale", "factor of the bias: one, or the square root of a head's width"}, scale,
                 {"one", "sqrt_head"});
  }
};

inline const Registered<EncodingEntry> t5_entry{{
    .name = "t5",
    .summary = "learned bias per bucket of the relative position",
    .formula = "b_h[bucket(j - i)], 32 buckets, exact to 8 (decoder: 16), logarithmic to 128",
    .source = "Raffel et al., arXiv 1910.10683",
    .needs_whole_positions = true,
    .gives_bias = true,
    .place = 8,
    .options = T5Options(),
}};

}  // namespace che
