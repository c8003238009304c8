// FIRE (arXiv 2310.04418): bias MLP(psi(distance) / (psi(max(i, |L_m L_0|)) + 1e-6)), psi(x) =
// log(|c x| + 1), learned c, L_m and an MLP 1 -> hidden -> heads with ReLU in every layer.
//
// Inside DAPE the released module has an MLP of DAPE's own width with LeakyReLU. The published form
// is causal, and a decoder's; see DistanceOptions for keys to the right, and FireOptions::normalizer.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "models/encodings/distance.h"
#include "models/settings/encoding_entry.h"

namespace che {

enum class FireNormalizer : std::uint8_t { kMaxIndex, kQuery };

struct FireOptions {
  DistanceOptions distance;
  // max_index: max(i, j, |L_m L_0|), which keeps the ratio at most 1 on both sides; query: the
  // published max(i, |L_m L_0|). Randomized positions take the place of i and j, or the largest
  // drawn distance does where distances are drawn.
  FireNormalizer normalizer = FireNormalizer::kMaxIndex;
  double length = 512;       // L_0
  std::int64_t hidden = 32;  // Width of the MLP, except inside DAPE.

  void visit_fields(FieldVisitor& visit) {
    distance.visit_fields(visit);
    visit.choice({.name = "normalizer",
                  .help = "distances are divided by max(i, j, L) or by max(i, L)",
                  .hashed_name = "fire_normalizer"},
                 normalizer, {"max_index", "query"});
    visit.real({.name = "length",
                .help = "initial smallest normalizer, L_0, in tokens",
                .hashed_name = "fire_length"},
               length, 1e-3, 1e9);
    visit.integer({"hidden", "width of the network; inside DAPE it has the width of dape.hidden"}, hidden, 1,
                  65536);
  }
};

inline std::optional<ConfigProblem> fire_problem(const EncodingUse& use) {
  const auto& options = use.options.as<FireOptions>();
  const bool draws_distances =
      use.max_position > 0 && options.distance.randomized_distance == RandomizedDistance::kPerOffset;
  if (draws_distances && options.normalizer != FireOptions().normalizer) {
    return ConfigProblem{
        {"encoding.normalizer", "encoding.randomized_distance"},
        fmt::format("normalizer: {} has no effect where distances are drawn, because the largest one "
                    "divides them all; leave it out, or set randomized_distance to per_position",
                    use.options.values().at("normalizer"))};
  }
  if (!use.dape || options.hidden == FireOptions().hidden) return std::nullopt;
  return ConfigProblem{
      {"encoding.hidden"},
      fmt::format("inside DAPE the network of fire has the width of encoding.dape.hidden ({}); "
                  "set that one instead",
                  use.dape->hidden)};
}

inline const Registered<EncodingEntry> fire_entry{{
    .name = "fire",
    .summary = "learned function of the distance over the position",
    .formula = "MLP(psi(|r|) / (psi(max(i, j, |L_m L_0|)) + 1e-6)), psi(x) = log(|c x| + 1)",
    .source = "Li et al., arXiv 2310.04418",
    .gives_bias = true,
    .place = 7,
    .options = FireOptions(),
    .identity_defaults = FireOptions{.distance = {.direction = Direction::kHalfOffset}},
    .encoder_options = {"direction", "normalizer"},
    .problem = fire_problem,
}};

}  // namespace che
