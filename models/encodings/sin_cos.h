// Sinusoidal encoding (arXiv 1706.03762) in the arrangement of the released "Randomized positional
// encodings" program: x_t += [sin(p_t w_k), cos(p_t w_k)], w_k = 10000^(-2k/d), all sines first.
#pragma once

#include <fmt/core.h>

#include <optional>

#include "models/settings/encoding_entry.h"

namespace che {

inline std::optional<ConfigProblem> sin_cos_problem(const EncodingUse& use) {
  if (use.shape.width % 2 == 0) return std::nullopt;
  return ConfigProblem{
      {"model.width"},
      fmt::format("sin_cos pairs sines with cosines and needs an even width; got {}", use.shape.width)};
}

inline const Registered<EncodingEntry> sin_cos_entry{{
    .name = "sin_cos",
    .summary = "sinusoids of the absolute position, added to the embedding",
    .formula = "x_t += [sin(p_t w_k), cos(p_t w_k)], w_k = 10000^(-2k/d)",
    .source = "Vaswani et al., arXiv 1706.03762",
    .place = 2,
    .problem = sin_cos_problem,
}};

}  // namespace che
