#include "core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "tests/tasks/chi_square.h"

namespace che {
namespace {

constexpr double kFalseAlarm = 1e-6;

std::vector<std::uint32_t> words(RandomStream random, std::size_t count) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random());
  return result;
}

// These are kat_vectors of Random123, philox4x32 with 10 rounds.
TEST(RandomStream, GivesTheKnownAnswersOfPhilox) {
  EXPECT_EQ(words(RandomStream(0, Purpose::kInit), 4),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const r123::Philox4x32::ctr_type counter = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  const r123::Philox4x32::key_type key = {{0xa4093822, 0x299f31d0}};
  const r123::Philox4x32::ctr_type known = {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  EXPECT_EQ(r123::Philox4x32{}(counter, key), known);
}

// Stored checkpoints and results rely on this layout.
TEST(RandomStream, KeepsTheLayoutOfTheCounter) {
  const RandomStream random(0x0123456789abcdef, Purpose::kDropout, 0xfffffffe, 0xfffffffd, 0xffffffe);
  const r123::Philox4x32::key_type key = {{0x89abcdef, 0x01234567}};
  std::vector<std::uint32_t> expected;
  for (std::uint32_t block = 0; block < 3; ++block) {
    const r123::Philox4x32::ctr_type counter = {{block, 0xfffffffd, 0xfffffffe, 0xffffffe4}};
    const auto values = r123::Philox4x32{}(counter, key);
    expected.insert(expected.end(), values.begin(), values.end());
  }
  EXPECT_EQ(words(random, 12), expected);
}

TEST(RandomStream, DependsOnEachArgument) {
  const std::vector<RandomStream> streams = {
      RandomStream(7, Purpose::kData, 3, 4, 5),
      RandomStream(8, Purpose::kData, 3, 4, 5),
      RandomStream(7 + (std::uint64_t{1} << 32), Purpose::kData, 3, 4, 5),
      RandomStream(7, Purpose::kEvaluation, 3, 4, 5),
      RandomStream(7, Purpose::kData, 4, 4, 5),
      RandomStream(7, Purpose::kData, 3, 5, 5),
      RandomStream(7, Purpose::kData, 3, 4, 6),
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      // Unrelated streams share each bit with probability 1/2.
      const auto a = words(streams[i], 256);
      const auto b = words(streams[j], 256);
      int equal_bits = 0;
      for (std::size_t k = 0; k < a.size(); ++k) equal_bits += 32 - __builtin_popcount(a[k] ^ b[k]);
      EXPECT_NEAR(equal_bits, 4096, 6 * std::sqrt(8192) / 2) << i << " and " << j;
    }
  }
}

TEST(RandomStream, RefusesArgumentsThatDoNotFit) {
  constexpr std::uint64_t kWord = std::uint64_t{1} << 32;
  EXPECT_THROW(RandomStream(0, Purpose::kData, kWord), Error);
  EXPECT_THROW(RandomStream(0, Purpose::kData, 0, kWord), Error);
  EXPECT_THROW(RandomStream(0, Purpose::kData, 0, 0, 1U << 28), Error);
  EXPECT_NO_THROW(RandomStream(0, Purpose::kData, kWord - 1, kWord - 1, (1U << 28) - 1));
}

TEST(RandomStream, BelowIsUniform) {
  for (const std::uint64_t bound : {2U, 3U, 5U, 6U, 7U, 100U}) {
    RandomStream random(bound, Purpose::kData);
    Histogram counts(bound, 0);
    for (int i = 0; i < 200'000; ++i) ++counts.at(random.below(bound));
    EXPECT_GT(uniformity_p_value(counts), kFalseAlarm) << bound;
  }
}

// Without rejection, half of all draws below this bound would be multiples of 3.
TEST(RandomStream, BelowIsUnbiasedForALargeBound) {
  const std::uint64_t bound = (std::uint64_t{3} << 30);
  RandomStream random(1, Purpose::kData);
  Histogram remainders(3, 0);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint32_t value = random.below(bound);
    ASSERT_LT(value, bound);
    ++remainders[value % 3];
  }
  EXPECT_GT(uniformity_p_value(remainders), kFalseAlarm);
}

TEST(RandomStream, BelowTakesTheSmallestAndLargestBound) {
  RandomStream random(1, Purpose::kData);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(random.below(1), 0U);
  RandomStream for_below(2, Purpose::kData);
  RandomStream for_words(2, Purpose::kData);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(for_below.below(std::uint64_t{1} << 32), for_words());
}

TEST(RandomStream, UniformAndNormalHaveTheirMoments) {
  constexpr int kDraws = 200'000;
  RandomStream random(1, Purpose::kInit);
  double uniform_sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double uniform = random.uniform();
    ASSERT_GE(uniform, 0);
    ASSERT_LT(uniform, 1);
    uniform_sum += uniform;
    const double normal = random.normal();
    normal_sum += normal;
    normal_squares += normal * normal;
  }
  // The bounds are six standard errors.
  const double root = std::sqrt(kDraws);
  EXPECT_NEAR(uniform_sum / kDraws, 0.5, 6 * std::sqrt(1.0 / 12) / root);
  EXPECT_NEAR(normal_sum / kDraws, 0, 6 / root);
  EXPECT_NEAR(normal_squares / kDraws, 1, 6 * std::sqrt(2) / root);
}

TEST(KeyedSeed, DependsOnSeedAndName) {
  EXPECT_NE(keyed_seed(0, "a"), keyed_seed(0, "b"));
  EXPECT_NE(keyed_seed(0, "a"), keyed_seed(1, "a"));
  EXPECT_EQ(keyed_seed(1, "a"), keyed_seed(1, "a"));
}

}  // namespace
}  // namespace che
