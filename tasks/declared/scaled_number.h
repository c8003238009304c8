#pragma once

#include <cmath>
#include <cstdint>

namespace che {

// A number mantissa * 2^exponent that is not negative: a double with the range of 64-bit exponents, for
// counts of strings. The mantissa is 0 or in [0.5, 1).
struct ScaledNumber {
  double mantissa = 0;
  std::int64_t exponent = 0;

  bool is_zero() const { return mantissa == 0; }

  // The value times 2^-scale; 0 where that is below the range of a double.
  double scaled(std::int64_t scale) const {
    const std::int64_t shift = exponent - scale;
    return shift < -1100 ? 0 : std::ldexp(mantissa, static_cast<int>(shift));
  }

  // value * 2^scale; `value` is not negative.
  static ScaledNumber of(double value, std::int64_t scale) {
    if (value == 0) return {};
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return {mantissa, scale + exponent};
  }
};

}  // namespace che
