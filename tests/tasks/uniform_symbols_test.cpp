#include "tasks/uniform_symbols.h"

#include <gtest/gtest.h>

#include "tests/tasks/chi_square.h"

namespace che {
namespace {

constexpr double kFalseAlarm = 1e-6;

// Pairs of neighbouring digits, so that a digit that depends on the one before is noticed too.
template <std::uint32_t kBase>
Histogram count_pairs(std::span<const std::uint8_t> digits) {
  Histogram pairs(kBase * kBase, 0);
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) ++pairs.at(digits[i] * kBase + digits[i + 1]);
  return pairs;
}

template <std::uint32_t kBase>
void expect_uniform() {
  for (const std::size_t offset : {0U, 1U}) {
    RandomStream random(kBase, Purpose::kData);
    std::vector<std::uint8_t> digits(1'000'000 + offset);
    fill_uniform<kBase>(random, digits);
    EXPECT_GT(uniformity_p_value(count_pairs<kBase>(std::span(digits).subspan(offset))), kFalseAlarm)
        << kBase;
  }
}

TEST(UniformDigits, AreUniformAndIndependent) {
  expect_uniform<2>();
  expect_uniform<3>();
  expect_uniform<5>();
  expect_uniform<15>();
  expect_uniform<100>();
}

TEST(UniformDigits, OneByOneAreTheSameAsFilled) {
  for (const std::size_t size : {1U, 5U, 12U, 13U, 40U, 100U}) {
    RandomStream for_fill(1, Purpose::kData);
    RandomStream for_calls(1, Purpose::kData);
    std::vector<std::uint8_t> filled(size);
    std::vector<std::uint8_t> called(size);
    fill_uniform<5>(for_fill, filled, 10);
    UniformDigits<5> digits(for_calls);
    for (std::uint8_t& digit : called) digit = static_cast<std::uint8_t>(10 + digits());
    EXPECT_EQ(filled, called);
  }
}

// Twelve digits a word are the best for base 5; too few words are rejected for a bias to show.
TEST(UniformDigits, AcceptEachCombinationFromEquallyManyWords) {
  constexpr std::uint64_t kRange = 244'140'625;  // 5^12
  constexpr std::uint64_t kRejected = (std::uint64_t{1} << 32) % kRange;
  RandomStream for_words(4, Purpose::kData);
  std::vector<std::uint8_t> expected;
  int rejected = 0;
  while (expected.size() < 12'000) {
    const std::uint64_t product = for_words() * kRange;
    if (product % (std::uint64_t{1} << 32) < kRejected) {
      ++rejected;
      continue;
    }
    std::uint64_t combination = product >> 32;
    std::vector<std::uint8_t> digits(12);
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, combination /= 5) {
      *digit = static_cast<std::uint8_t>(combination % 5);
    }
    expected.insert(expected.end(), digits.begin(), digits.end());
  }
  EXPECT_GT(rejected, 0);
  RandomStream for_digits(4, Purpose::kData);
  std::vector<std::uint8_t> filled(expected.size());
  fill_uniform<5>(for_digits, filled);
  EXPECT_EQ(filled, expected);
}

TEST(UniformBits, AreTheBitsOfTheStreamLowestFirst) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 31U, 32U, 33U, 40U, 100U}) {
    RandomStream random(3, Purpose::kData);
    std::vector<std::uint8_t> bits(size + 8, 0xff);
    fill_uniform_bits(random, std::span(bits).first(size));
    RandomStream again(3, Purpose::kData);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 32 == 0) word = again();
      ASSERT_EQ(bits[i], word >> (i % 32) & 1) << i << " of " << size;
    }
    for (std::size_t i = size; i < bits.size(); ++i) ASSERT_EQ(bits[i], 0xff) << i << " of " << size;
  }
}

}  // namespace
}  // namespace che
