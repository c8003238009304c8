#include "models/encodings/distance.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

// Whether distances are differences of positions that are drawn for each token.
bool subtracts_positions(const EncodingContext& context, RandomizedDistance randomized_distance) {
  return randomized_distance == RandomizedDistance::kPerPosition && context.positions.draws_distances();
}

}  // namespace

PairValues signed_distance(const EncodingContext& context, RandomizedDistance randomized_distance) {
  if (subtracts_positions(context, randomized_distance)) {
    const at::Tensor positions = context.token_positions();
    const at::Tensor r = positions.unsqueeze(0) - positions.slice(0, context.first_query).unsqueeze(1);
    return {r.view({1, 1, -1}), false};
  }
  const auto both_sides = [layer = context.layer, tokens = context.tokens](const Positions& from) {
    const Positions::List offsets = from.of_offsets(layer, tokens);
    Positions::List all;
    for (std::size_t i = offsets.size() - 1; i > 0; --i) all.push_back(-offsets[i]);
    all.insert(all.end(), offsets.begin(), offsets.end());
    return at::tensor(all, at::kDouble);
  };
  return {context.table("distance", both_sides).view({1, 1, -1}), true};
}

PairValues distance(const EncodingContext& context, const DistanceOptions& options) {
  const PairValues pairs = signed_distance(context, options.randomized_distance);
  const at::Tensor& r = pairs.values;
  const auto values = [&] {
    if (context.shape.causal || options.direction == Direction::kLeftOnly) return at::clamp_min(-r, 0);
    if (options.direction == Direction::kSymmetric) return r.abs();
    // The larger is r from 0 on, and |r| - 0.5 to the left.
    return at::clamp_min(at::maximum(r, -0.5 - r), 0);
  };
  return {context.computed_table("unsigned distance", values), pairs.by_offset};
}

}  // namespace che
