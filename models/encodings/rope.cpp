#include "models/encodings/rope.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "models/encodings/rotary.h"

namespace che {
namespace {

constexpr double kMaxTime = 10000;

struct Rope : RotaryEncoding {
  RopeOptions options;
  TrainedTokens trained;

  PairTurns turns(const Positions::List& positions, const EncodingContext& context) const override {
    const bool reads_length = options.is_scaled() || options.frequencies == RopeFrequencies::kEvq;
    if (reads_length && trained.count < 1) {
      throw Error("rope: scaling and evq need the number of tokens of the longest training sequence",
                  ErrorKind::kRuntime);
    }
    const std::int64_t width = context.shape.head_width();
    const double stretch =
        options.is_scaled()
            ? std::max(1.0, static_cast<double>(context.tokens) / static_cast<double>(trained.count))
            : 1.0;
    at::Tensor frequencies =
        options.frequencies == RopeFrequencies::kEvq ? evq(width) : scaled(width, stretch);
    const std::int64_t pairs = width / 2;
    const double turning = std::floor(options.fraction * static_cast<double>(pairs));
    frequencies.slice(0, static_cast<std::int64_t>(turning)).zero_();
    return {rotary_angles(positions, frequencies),
            options.scaling == RopeScaling::kYarn ? 0.1 * std::log(stretch) + 1 : 1};
  }

 private:
  at::Tensor evq(std::int64_t width) const {
    const auto pairs = static_cast<double>(width) / 2;
    const double tau = static_cast<double>(width) / std::sqrt(static_cast<double>(trained.count));
    const at::Tensor left = 1 - (at::arange(0, width / 2, at::kDouble) + 0.5) / pairs;
    // asinh(x sinh(tau)) is tau + ln(x) to double precision where sinh(tau) would overflow.
    constexpr double kLargeTau = 300;
    const at::Tensor moved = tau > kLargeTau ? left.log() + tau : at::asinh(left * std::sinh(tau));
    return at::pow(kMaxTime, moved / tau - 1);
  }

  at::Tensor scaled(std::int64_t width, double stretch) const {
    const auto d = static_cast<double>(width);
    if (stretch == 1) return rotary_frequencies(width, kMaxTime);
    // A single pair has the frequency 1 whatever the base.
    if (options.scaling == RopeScaling::kNtk) {
      return rotary_frequencies(width, width == 2 ? kMaxTime : kMaxTime * std::pow(stretch, d / (d - 2)));
    }
    const at::Tensor plain = rotary_frequencies(width, kMaxTime);
    if (options.scaling == RopeScaling::kLinear) return plain / stretch;
    // The pair that makes `turns` turns within a training sequence.
    const auto pair_of = [&](double turns) {
      return d * std::log(static_cast<double>(trained.count) / (2 * std::numbers::pi * turns)) /
             (2 * std::log(kMaxTime));
    };
    const double low = std::clamp(std::floor(pair_of(options.beta_fast)), 0.0, d - 1);
    const double high = std::clamp(std::ceil(pair_of(options.beta_slow)), 0.0, d - 1);
    // As released: a ramp of no width is a step.
    const double width_of_ramp = high == low ? 1e-3 : high - low;
    const at::Tensor kept = 1 - ((at::arange(0, width / 2, at::kDouble) - low) / width_of_ramp).clamp(0, 1);
    return (1 - kept) * plain / stretch + kept * plain;
  }
};

const Registered<EncodingMaker> rope_maker{{"rope", make_encoding<Rope>}};

}  // namespace
}  // namespace che
