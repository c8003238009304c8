// T5's relative bias (arXiv 1910.10683), bidirectional: a learned scalar per head and bucket of
// r = j - i, added after scaling. A side has 16 buckets, the right one the upper half: |r| < 8 has
// its own, above it is 8 + floor(8 log(|r| / 8) / log(128 / 8)), at most 15.
//
// 8 log(n / 8) / log(16) is 2 log2(n / 8): bucket 8 + k starts where n^2 >= 64 * 2^k. The released
// programs take the logarithm in single precision and find the same buckets.
#pragma once

#include <string>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

enum class T5Table : std::uint8_t { kShared, kPerLayer };

struct T5Options {
  T5Table table = T5Table::kShared;  // One table for all layers, as released, or one a layer.
  RandomizedDistance randomized_distance = RandomizedDistance::kPerOffset;

  void visit_fields(FieldVisitor& visit) {
    visit.choice(
        {.name = "table", .help = "one table for all layers or one per layer", .hashed_name = "t5_table"},
        table, {"shared", "per_layer"});
    visit_randomized_distance(visit, randomized_distance);
  }
};

inline const Registered<EncodingEntry> t5_entry{{
    .name = "t5",
    .summary = "learned bias per bucket of the relative position",
    .formula = "b_h[bucket(j - i)], 32 buckets, exact to 8, logarithmic to 128",
    .source = "Raffel et al., arXiv 1910.10683",
    .gives_bias = true,
    .place = 8,
    .options = T5Options(),
}};

}  // namespace che
