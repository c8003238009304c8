#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <shared_mutex>
#include <span>
#include <vector>

#include "core/random.h"
#include "tasks/declared/finite_automaton.h"

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
    if (shift < -1100) return 0;
    // This is faster than ldexp. The mantissa is at least 1/2, so that the product is normal and exact, too.
    constexpr std::int64_t kBias = 1023;
    constexpr int kFractionBits = 52;
    if (shift > -1000 && shift <= 0) {
      return mantissa * std::bit_cast<double>(static_cast<std::uint64_t>(kBias + shift) << kFractionBits);
    }
    return std::ldexp(mantissa, static_cast<int>(shift));
  }

  // value * 2^scale; `value` is not negative.
  static ScaledNumber of(double value, std::int64_t scale) {
    if (value == 0) return {};
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return {mantissa, scale + exponent};
  }
};

// How many strings of each length an automaton accepts (or rejects), from every state; with them it draws one
// of those strings uniformly, symbol by symbol. Each symbol is chosen in proportion to the number of ways to
// finish. Counts are exact up to the rounding of a double at each sum, for every length. Every function may
// be called from several threads.
class StringCounts {
 public:
  // `automaton` must outlive the object.
  StringCounts(const FiniteAutomaton& automaton, bool accepted);

  // The number of strings of `length` from the start. Takes time and memory in proportion to length times
  // states, once.
  ScaledNumber count(std::int64_t length) const;

  // Draws uniformly one of the strings of this length; there must be one.
  void draw(RandomStream& random, std::span<std::uint8_t> input) const;

  // The greatest length that the memory for counts allows.
  std::int64_t max_length() const;

 private:
  void extend(std::size_t length) const;
  std::size_t choose(RandomStream& random, const std::vector<ScaledNumber>& after, std::int32_t state) const;

  const FiniteAutomaton& automaton_;
  mutable std::shared_mutex mutex_;
  mutable std::deque<std::vector<ScaledNumber>> counts_;  // By length: (states)
};

}  // namespace che
