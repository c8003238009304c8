#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/config/fields.h"
#include "core/random.h"

namespace che {

// Natural numbers as one bit an element, least significant bit first unless said otherwise.

// A pitfall of binary_addition and binary_multiplication.
inline constexpr const char* kLeastFirstPitfall =
    "Numbers have their least significant bit first, as in the released program; bit_order: most_first gives "
    "the order of the DAPE paper's example.";

// How the numbers of binary_addition and binary_multiplication are written.
enum class BitOrder : std::uint8_t { kLeastFirst, kMostFirst };

struct BitOrderOptions {
  BitOrder bit_order = BitOrder::kLeastFirst;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({.name = "bit_order",
                  .help = "whether numbers are written least significant bit first, as in the released "
                          "program, or most significant bit first, as in Table 4 of the DAPE paper"},
                 bit_order, {"least_first", "most_first"});
  }
};

// Fills `bits` with a number that is uniform over 1 .. 2^n - 1 (n elements).
void draw_nonzero(RandomStream& random, std::span<std::uint8_t> bits);

// The two numbers in the input of binary_addition and binary_multiplication; `second` is empty when
// the input is too short for two.
struct Operands {
  std::span<const std::uint8_t> first;
  std::span<const std::uint8_t> second;
};

// Fills all of `input`. Three symbols or more are two nonzero numbers with the operator (2) between them, at
// a uniform place. Fewer are one number, uniform over all but the largest.
Operands draw_operands(RandomStream& random, std::span<std::uint8_t> input);

// Writes first * second into `product`, as many bits as both factors have together.
void multiply(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
              std::span<std::uint8_t> product);

enum class Rounding : std::uint8_t { kFloor, kNearest };

// Writes the rounded square root of `number`, which is not zero, into `root`; both most significant bit
// first. For a number of n bits `root` has at least (n + 1) / 2 bits, or n / 2 + 1 with kNearest.
void integer_square_root(std::span<const std::uint8_t> number, Rounding rounding,
                         std::span<std::uint8_t> root);

// Makes `output`, whose first `bits` elements (at least 1) hold a number, end that number without
// superfluous zeros by a terminator and padding. Zero keeps one bit.
void terminate_number(std::span<std::uint8_t> output, std::size_t bits);

// Reverses the numbers of a sample: the one or two in `input` and the one before the terminator of `output`.
void reverse_numbers(std::span<std::uint8_t> input, std::span<std::uint8_t> output);

}  // namespace che
