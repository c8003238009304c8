// Relative positions of Transformer-XL (arXiv 1901.02860) in the encoder form of the released
// "Randomized positional encodings" program: logits ((q_i + u) k_j + (q_i + v) (W_r R_r)) /
// sqrt(d_head), R_r the sinusoid of r = j - i, key minus query. A decoder has the paper's own R_(i-j).
#pragma once

#include <fmt/core.h>

#include <optional>

#include "models/settings/encoding_entry.h"

namespace che {

enum class RandomizedRelative : std::uint8_t { kIntended, kAsReleased };

struct RelativeOptions {
  // as_released: the released program reads its table of sinusoids, rows 0 .. N-1, at r + N and
  // clamps: a key on the left at distance r gets the row N - r, the token itself and every key to
  // its right the row N - 1. Contiguous positions are not affected.
  RandomizedRelative randomized_relative = RandomizedRelative::kIntended;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({"randomized_relative",
                  "sinusoids at randomized distances: of the distance, or as the released code"},
                 randomized_relative, {"intended", "as_released"});
  }
};

inline std::optional<ConfigProblem> relative_problem(const EncodingUse& use) {
  const bool as_released =
      use.options.as<RelativeOptions>().randomized_relative == RandomizedRelative::kAsReleased;
  if (as_released && is_real(use.positions)) {
    return ConfigProblem{{"encoding.randomized_relative", "encoding.positions"},
                         "randomized_relative: as_released reads a table at whole distances; set it to "
                         "intended, or positions to contiguous or randomized"};
  }
  if (use.shape.width % 2 == 0) return std::nullopt;
  return ConfigProblem{
      {"model.width"},
      fmt::format("relative pairs sines with cosines and needs an even width; got {}", use.shape.width)};
}

inline const Registered<EncodingEntry> relative_entry{{
    .name = "relative",
    .summary = "Transformer-XL's learned projection of relative sinusoids",
    .formula = "((q_i + u) k_j + (q_i + v) (W_r R_{j-i})) / sqrt(d_head)",
    .source = "Dai et al., arXiv 1901.02860",
    .place = 4,
    .options = RelativeOptions(),
    .encoder_options = {"randomized_relative"},
    .problem = relative_problem,
}};

}  // namespace che
