// A bias by offset from a network of it, as DynamicPositionBias of the released program x-transformers with
// log_distance: b_h(r) = MLP(x)_h, x = -sign(r) log(1 + |r|), two hidden layers with SiLU, in every layer of
// the model. The network has no side of its own, so that an encoder and a decoder have one form.
#pragma once

#include <cstdint>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

struct PositionMlpOptions {
  std::int64_t hidden = 64;  // Width of both hidden layers: a quarter of 256 features, as released.
  RandomizedDistance randomized_distance = RandomizedDistance::kPerOffset;

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"hidden", "width of the network's two hidden layers"}, hidden, 1, 4'096);
    visit_randomized_distance(visit, randomized_distance);
  }
};

inline const Registered<EncodingEntry> position_mlp_entry{{
    .name = "position_mlp",
    .summary = "learned function of the signed distance, a network in every layer",
    .formula = "MLP(-sign(r) log(1 + |r|)), two hidden layers with SiLU",
    .source = "Wang, x-transformers 2.31.10 (DynamicPositionBias)",
    .gives_bias = true,
    .place = 11,
    .options = PositionMlpOptions(),
}};

}  // namespace che
