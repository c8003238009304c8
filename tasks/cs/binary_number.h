#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/random.h"

namespace che {

// Natural numbers as one bit an element, least significant bit first unless said otherwise.

// Fills `bits` with a number that is uniform over 1 .. 2^n - 1 (n elements).
void draw_nonzero(RandomStream& random, std::span<std::uint8_t> bits);

// The two numbers in the input of binary_addition and binary_multiplication; `second` is empty when
// the input is too short for two.
struct Operands {
  std::span<const std::uint8_t> first;
  std::span<const std::uint8_t> second;
};

// Fills all of `input`: with three symbols or more, two nonzero numbers and the operator (2) between
// them, at a uniform place; else one number, uniform over all but the largest.
Operands draw_operands(RandomStream& random, std::span<std::uint8_t> input);

// Writes first * second into `product`, as many bits as both factors have together.
void multiply(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
              std::span<std::uint8_t> product);

// Writes floor(sqrt(number)) into `root`, (n + 1) / 2 bits for n; both most significant bit first.
// The number is not zero.
void integer_square_root(std::span<const std::uint8_t> number, std::span<std::uint8_t> root);

// Makes `output`, whose first `bits` elements (at least 1) hold a number, end that number without
// superfluous zeros by a terminator and padding. Zero keeps one bit.
void terminate_number(std::span<std::uint8_t> output, std::size_t bits);

}  // namespace che
