// KERPLE (arXiv 2205.09921): a bias that falls with the distance, with two learned numbers a head in every
// layer:
//
//   log    -p_h log(1 + a_h |r|),  p, a > 0
//   power  -a_h |r|^p_h,           a > 0, 0 < p <= 2
//
// The released code is causal, as a decoder is, and says nothing of keys to the right: see DistanceOptions.
#pragma once

#include <cstdint>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

enum class KerpleKind : std::uint8_t { kLog, kPower };

struct KerpleOptions {
  DistanceOptions distance;
  KerpleKind kind = KerpleKind::kLog;

  void visit_fields(FieldVisitor& visit) {
    distance.visit_fields(visit);
    visit.choice({"kind", "-p log(1 + a |r|) or -a |r|^p"}, kind, {"log", "power"});
  }
};

inline const Registered<EncodingEntry> kerple_entry{{
    .name = "kerple",
    .summary = "learned logarithmic bias on the distance, or a power of it",
    .formula = "-p_h log(1 + a_h |r|), learned p, a; power: -a_h |r|^p_h",
    .source = "Chi et al., arXiv 2205.09921",
    .gives_bias = true,
    .place = 6,
    .options = KerpleOptions(),
    .identity_defaults = KerpleOptions{.distance = {.direction = Direction::kHalfOffset}},
    .encoder_options = {"direction"},
}};

}  // namespace che
