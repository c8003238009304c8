#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/random.h"

namespace che {

// Uniform digits 0 .. kBase-1, several from each 32-bit word of a random stream, without bias.
//
// With m digits a word and range = kBase^m, word * range / 2^32 is uniform over 0 .. range-1, once some words
// are rejected: those whose 32 low bits of the product are below 2^32 mod range. Its digits come out with one
// multiplication each (Brackett-Rozinsky and Lemire, "Batched ranged random integer generation", arXiv
// 2408.06213). The digits left in the last word when the object dies are lost.
template <std::uint32_t kBase>
class UniformDigits {
 public:
  explicit UniformDigits(RandomStream& random) : random_(random) {}

  std::uint8_t operator()() {
    if (left_ == 0) {
      fraction_ = accepted_word();
      left_ = kPerWord;
    }
    --left_;
    return next_digit(fraction_);
  }

  // Writes the digits that one call for each element would give on a new object, and adds `first` to each.
  void fill(std::span<std::uint8_t> symbols, std::uint8_t first = 0) {
    std::size_t done = 0;
    while (symbols.size() - done >= kPerWord) {
      std::uint32_t fraction = accepted_word();
      for (unsigned i = 0; i < kPerWord; ++i) {
        symbols[done + i] = static_cast<std::uint8_t>(first + next_digit(fraction));
      }
      done += kPerWord;
    }
    if (done == symbols.size()) return;
    std::uint32_t fraction = accepted_word();
    for (; done < symbols.size(); ++done) {
      symbols[done] = static_cast<std::uint8_t>(first + next_digit(fraction));
    }
  }

 private:
  static_assert(2 <= kBase && kBase <= 256);
  static constexpr std::uint64_t kWords = std::uint64_t{1} << 32;

  static constexpr std::uint64_t power(unsigned digits) {
    std::uint64_t result = 1;
    for (unsigned i = 0; i < digits; ++i) result *= kBase;
    return result;
  }

  // The number of digits that makes the most of a word: the expected yield is digits times the
  // share of words accepted, (2^32 - 2^32 mod range) / 2^32.
  static constexpr unsigned best_digits() {
    unsigned best = 1;
    std::uint64_t best_yield = 0;
    for (unsigned digits = 1; power(digits) <= kWords; ++digits) {
      const std::uint64_t yield = digits * (kWords - kWords % power(digits));
      if (yield > best_yield) {
        best = digits;
        best_yield = yield;
      }
    }
    return best;
  }

  static constexpr unsigned kPerWord = best_digits();
  static constexpr std::uint64_t kRange = power(kPerWord);
  static constexpr std::uint32_t kRejected = static_cast<std::uint32_t>(kWords % kRange);

  std::uint32_t accepted_word() {
    std::uint32_t word = random_();
    while (static_cast<std::uint32_t>(word * kRange) < kRejected) word = random_();
    return word;
  }

  static std::uint8_t next_digit(std::uint32_t& fraction) {
    const std::uint64_t product = std::uint64_t{fraction} * kBase;
    fraction = static_cast<std::uint32_t>(product);
    return static_cast<std::uint8_t>(product >> 32);
  }

  RandomStream& random_;
  std::uint32_t fraction_ = 0;
  unsigned left_ = 0;
};

// Fills `symbols` with independent symbols, uniform over first .. first + kBase - 1.
template <std::uint32_t kBase>
void fill_uniform(RandomStream& random, std::span<std::uint8_t> symbols, std::uint8_t first = 0) {
  UniformDigits<kBase>(random).fill(symbols, first);
}

// Bits: eight at a time, bit i of a byte into byte i of a 64-bit word.
inline void fill_uniform_bits(RandomStream& random, std::span<std::uint8_t> symbols) {
  for (std::size_t done = 0; done < symbols.size();) {
    const std::uint32_t word = random();
    for (unsigned shift = 0; shift < 32 && done < symbols.size(); shift += 8) {
      constexpr std::uint64_t kEachByte = 0x0101010101010101U;
      const std::uint64_t selected = ((word >> shift & 0xffU) * kEachByte) & 0x8040201008040201U;
      const std::uint64_t bits = ((selected + 0x7f * kEachByte) >> 7) & kEachByte;
      const std::size_t count = std::min<std::size_t>(8, symbols.size() - done);
      std::memcpy(&symbols[done], &bits, count);
      done += count;
    }
  }
}

}  // namespace che
