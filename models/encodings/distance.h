#pragma once

#include <string_view>
#include <utility>

#include "core/config/fields.h"

namespace che {

struct EncodingContext;
struct PairValues;

// `symmetric` is |r|, as the DAPE paper defines ALiBi and Kerple. `half_offset` is |r| - 0.5 [j < i], as
// ALiBi in the released encoder of arXiv 2305.16843, and 0 where positions that are no whole numbers make it
// less. `left_only` is max(i - j, 0), as in DAPE's released (causal) code.
enum class Direction : std::uint8_t { kSymmetric, kHalfOffset, kLeftOnly };

// Under randomized positions: per_offset draws one distance for each j - i, per_position one
// position for each token.
enum class RandomizedDistance : std::uint8_t { kPerOffset, kPerPosition };

// The field of that name, for encodings that have no other of these options.
inline void visit_randomized_distance(FieldVisitor& visit, RandomizedDistance& value) {
  visit.choice(
      {"randomized_distance", "randomized positions draw a distance per offset or a position per token"},
      value, {"per_offset", "per_position"});
}

// How an encoding whose bias depends on a distance reads that distance. A decoder has keys on the left only,
// at max(i - j, 0) whatever `direction` says.
struct DistanceOptions {
  Direction direction = Direction::kSymmetric;
  RandomizedDistance randomized_distance = RandomizedDistance::kPerOffset;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({"direction", "an encoder's distance to a key: |r|, |r| - 0.5 [j < i], or max(i - j, 0)"},
                 direction, {"symmetric", "half_offset", "left_only"});
    visit_randomized_distance(visit, randomized_distance);
  }
};

// r = key - query in positions, (1, 1, pairs), of the type and device of the activations.
PairValues signed_distance(const EncodingContext& context, RandomizedDistance randomized_distance);

// The distance >= 0 that `options.direction`, or a decoder, makes of it, likewise.
PairValues distance(const EncodingContext& context, const DistanceOptions& options);

}  // namespace che
