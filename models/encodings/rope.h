// RoPE (arXiv 2104.09864): neighbouring feature pairs (2k, 2k+1) of queries and keys turn by the
// angle p_t w_k, w_k = b^(-2k/d), b = 10000, d = d_head.
//
// frequencies: evq (EVQ-Cosh, github.com/misaya-yang/hybrid-rope) spends fewer pairs on frequencies that do
// not turn within L, the longest training sequence: w_k = b^(-phi_k), phi_k = 1 - asinh((1 - u_k) sinh tau) /
// tau, u_k = (k + 1/2) / (d/2), tau = d / sqrt(L).
//
// At more tokens T than the L of the longest training sequence, `scaling` changes the frequencies, with
// s = T/L (1 in training, whose parameters are therefore those of plain RoPE):
//   linear (arXiv 2306.15595)  w_k / s
//   ntk    (bloc97, 2023)      (b s^(d/(d-2)))^(-2k/d)
//   yarn   (arXiv 2309.00071)  (1 - m_k) w_k / s + m_k w_k, m_k = 1 - clamp((k - low) / (high - low), 0, 1),
//                              low = floor c(beta_fast), high = ceil c(beta_slow), within 0 .. d - 1,
//                              c(r) = d ln(L / (2 pi r)) / (2 ln b); queries and keys times 0.1 ln s + 1
#pragma once

#include <fmt/core.h>

#include <optional>
#include <tuple>

#include "models/settings/encoding_entry.h"

namespace che {

enum class RopeFrequencies : std::uint8_t { kGeometric, kEvq };

enum class RopeScaling : std::uint8_t { kNone, kLinear, kNtk, kYarn };

struct RopeOptions {
  double fraction = 1;  // p-RoPE (arXiv 2410.06205): only the fastest pairs turn, this share of all.
  RopeFrequencies frequencies = RopeFrequencies::kGeometric;
  RopeScaling scaling = RopeScaling::kNone;
  // The published values; turns within L positions.
  double beta_fast = 32;
  double beta_slow = 1;

  bool is_scaled() const { return scaling != RopeScaling::kNone; }

  void visit_fields(FieldVisitor& visit) {
    visit.real({"fraction", "share of the feature pairs that turn, fastest first"}, fraction, 0, 1);
    visit.choice(
        {"frequencies", "of the pairs: a geometric row, or EVQ-Cosh for the longest training sequence"},
        frequencies, {"geometric", "evq"});
    visit.role(Role::kEvaluation);
    visit.choice({"scaling", "how frequencies change beyond the longest training sequence"}, scaling,
                 {"none", "linear", "ntk", "yarn"});
    visit.real({"beta_fast", "yarn: pairs with more turns in a training sequence keep their frequency"},
               beta_fast, 1e-3, 1e6);
    visit.real({"beta_slow", "yarn: pairs with fewer turns are slowed down by T/L"}, beta_slow, 1e-3, 1e6);
  }
};

inline std::optional<ConfigProblem> rope_problem(const EncodingUse& use) {
  if (auto problem = odd_head_width(use, "rope")) return problem;
  const auto& options = use.options.as<RopeOptions>();
  const std::int64_t pairs = use.shape.head_width() / 2;
  if (options.fraction > 0 && options.fraction * static_cast<double>(pairs) < 1) {
    return ConfigProblem{
        {"encoding.fraction", "model.width"},
        fmt::format("fraction: {} of the {} pairs of a head is less than one pair; set 0 or a larger share",
                    options.fraction, pairs)};
  }
  if (options.is_scaled() && use.max_position > 0) {
    return ConfigProblem{
        {"encoding.scaling", "encoding.positions"},
        fmt::format(
            "scaling: {} is for contiguous positions: randomized ones lie below max_position in training "
            "and test alike; set scaling to none or positions to contiguous",
            use.options.values().at("scaling"))};
  }
  if (options.is_scaled() && options.frequencies != RopeFrequencies::kGeometric) {
    return ConfigProblem{
        {"encoding.scaling", "encoding.frequencies"},
        fmt::format("scaling: {} is defined for geometric frequencies; set one of the two to its "
                    "default",
                    use.options.values().at("scaling"))};
  }
  if (options.beta_fast <= options.beta_slow) {
    return ConfigProblem{{"encoding.beta_fast", "encoding.beta_slow"},
                         fmt::format("beta_fast is to be greater than beta_slow; got {} and {}",
                                     options.beta_fast, options.beta_slow)};
  }
  return std::nullopt;
}

inline std::optional<ConfigProblem> rope_idle_setting(const AnyOptions& given) {
  const auto& options = given.as<RopeOptions>();
  if (options.scaling == RopeScaling::kYarn) return std::nullopt;
  const RopeOptions defaults;
  for (const auto& [name, value, usual] : {std::tuple("beta_fast", options.beta_fast, defaults.beta_fast),
                                           {"beta_slow", options.beta_slow, defaults.beta_slow}}) {
    if (value == usual) continue;
    return ConfigProblem{{fmt::format("encoding.{}", name), "encoding.scaling"},
                         fmt::format("{} has an effect with scaling: yarn only; got {} with scaling: {}; set "
                                     "encoding.scaling to yarn or leave {} out",
                                     name, value, given.values().at("scaling"), name)};
  }
  return std::nullopt;
}

inline const Registered<EncodingEntry> rope_entry{{
    .name = "rope",
    .summary = "queries and keys rotated by their position",
    .formula = "pairs (2k, 2k+1) of q and k turn by p_t 10000^(-2k/d_head)",
    .source = "Su et al., arXiv 2104.09864",
    .place = 3,
    .options = RopeOptions(),
    .problem = rope_problem,
    .idle_setting = rope_idle_setting,
}};

}  // namespace che
