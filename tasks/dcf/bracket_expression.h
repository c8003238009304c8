#pragma once

#include <cstdint>
#include <span>

#include "core/random.h"

namespace che {

// Symbols of bracketed expressions: the digits 0 .. 4 have their own values as symbols, then come
// plus, minus and, with three operators, times. Minus is binary and a sign.
struct BracketSymbols {
  std::uint32_t operators;  // The first so many of plus, minus, times occur.
  std::uint8_t open;
  std::uint8_t close;
};

inline constexpr std::uint8_t kExpressionModulus = 5;  // Also the first symbol that is no digit.
inline constexpr std::uint8_t kPlus = 5;
inline constexpr std::uint8_t kMinus = 6;

// Fills all of `expression` (n >= 1 symbols) with a draw from the published distribution E(n) and
// returns its value modulo 5:
//   E(1) = d, E(2) = -d, E(3) = (d), E(4) = (-d), with a uniform digit d;
//   E(n) = (E(l) operator E(n-3-l)) with l uniform over 1 .. n-4 and a uniform operator.
std::uint8_t draw_bracket_expression(RandomStream& random, const BracketSymbols& symbols,
                                     std::span<std::uint8_t> expression);

}  // namespace che
