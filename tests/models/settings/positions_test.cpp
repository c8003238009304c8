#include "models/settings/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tests/tasks/chi_square.h"

namespace che {
namespace {

Positions randomized(std::int64_t max_position, std::uint64_t step, std::uint64_t batch = 0) {
  return Positions::drawn(PositionSource::kRandomized, max_position, 1, Purpose::kPositions, step, batch);
}

// Counts are neither too unequal nor too equal.
void expect_uniform(const Histogram& counts, std::int64_t different = 1) {
  const double p_value = uniformity_p_value(counts, different);
  EXPECT_GT(p_value, 1e-4);
  EXPECT_LT(p_value, 1 - 1e-4);
}

TEST(ContiguousPositions, CountFromZero) {
  EXPECT_EQ((Positions::List{0, 1, 2, 3}), Positions().of_tokens(0, 4));
  EXPECT_EQ((Positions::List{0, 1, 2, 3}), Positions().of_offsets(2, 4));
}

TEST(RandomizedPositions, AreSortedDistinctAndInRange) {
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto tokens = randomized(64, step).of_tokens(0, 40);
    ASSERT_EQ(40U, tokens.size());
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    EXPECT_EQ(tokens.end(), std::adjacent_find(tokens.begin(), tokens.end()));
    EXPECT_GE(tokens.front(), 0);
    EXPECT_LT(tokens.back(), 64);
    const auto offsets = randomized(64, step).of_offsets(0, 64);
    ASSERT_EQ(64U, offsets.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) EXPECT_EQ(static_cast<double>(k), offsets[k]);
  }
}

TEST(RandomizedPositions, AreUniform) {
  constexpr int kDraws = 20'000;
  constexpr std::int64_t kMax = 20;
  Histogram counts(kMax);
  for (int step = 0; step < kDraws; ++step) {
    for (const double p : randomized(kMax, static_cast<std::uint64_t>(step)).of_tokens(3, 5)) {
      ++counts[static_cast<std::size_t>(p)];
    }
  }
  expect_uniform(counts, 5);
}

TEST(RandomizedPositions, DependOnSeedPurposeStepBatchAndLayerOnly) {
  const Positions draw = randomized(2048, 7, 1);
  const auto tokens = draw.of_tokens(0, 50);
  EXPECT_EQ(tokens, draw.of_tokens(0, 50));
  EXPECT_EQ(tokens, randomized(2048, 7, 1).of_tokens(0, 50));
  EXPECT_NE(tokens, draw.of_tokens(1, 50));
  EXPECT_NE(tokens, draw.of_tokens(Positions::kEmbeddingLayer, 50));
  EXPECT_NE(tokens, randomized(2048, 8, 1).of_tokens(0, 50));
  EXPECT_NE(tokens, randomized(2048, 7, 2).of_tokens(0, 50));
  EXPECT_NE(
      tokens,
      Positions::drawn(PositionSource::kRandomized, 2048, 2, Purpose::kPositions, 7, 1).of_tokens(0, 50));
  EXPECT_NE(tokens,
            Positions::drawn(PositionSource::kRandomized, 2048, 1, Purpose::kEvaluationPositions, 7, 1)
                .of_tokens(0, 50));
}

// An exponential stretch has mean 1 and variance 1, and is above 1 with probability 1/e.
TEST(EqualMeanPositions, AreMultiplesOfAStretchWithMeanOne) {
  constexpr int kDraws = 20'000;
  double sum = 0;
  int long_ones = 0;
  for (int step = 0; step < kDraws; ++step) {
    const auto drawn = Positions::drawn(PositionSource::kEqualMean, 7, 1, Purpose::kPositions,
                                        static_cast<std::uint64_t>(step));
    const auto tokens = drawn.of_tokens(2, 9);
    EXPECT_EQ(tokens, drawn.of_offsets(2, 9));
    for (std::size_t k = 0; k < tokens.size(); ++k)
      EXPECT_DOUBLE_EQ(static_cast<double>(k) * tokens[1], tokens[k]);
    EXPECT_NE(tokens, drawn.of_tokens(1, 9));
    sum += tokens[1];
    long_ones += tokens[1] > 1 ? 1 : 0;
    EXPECT_EQ(0, drawn.max_position());
    EXPECT_FALSE(drawn.contiguous() || drawn.draws_distances());
  }
  EXPECT_NEAR(1, sum / kDraws, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(std::exp(-1), static_cast<double>(long_ones) / kDraws, 4 * 0.49 / std::sqrt(kDraws));
}

TEST(RandomizedRealPositions, AreSortedAndUniformBelowTheirLimit) {
  constexpr int kDraws = 4'000;
  constexpr std::int64_t kMax = 10;
  Histogram counts(kMax);
  for (int step = 0; step < kDraws; ++step) {
    const auto drawn = Positions::drawn(PositionSource::kRandomizedReal, kMax, 1, Purpose::kPositions,
                                        static_cast<std::uint64_t>(step));
    const auto tokens = drawn.of_tokens(0, 25);  // More than there are whole positions.
    ASSERT_EQ(25U, tokens.size());
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    for (const double p : tokens) ++counts.at(static_cast<std::size_t>(p));
    const auto offsets = drawn.of_offsets(0, 25);
    ASSERT_EQ(25U, offsets.size());
    EXPECT_EQ(0, offsets.front());
    EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
    EXPECT_EQ(kMax, drawn.max_position());
    EXPECT_TRUE(drawn.draws_distances());
  }
  expect_uniform(counts);
}

TEST(RandomizedPositions, RefuseMoreTokensThanPositions) {
  EXPECT_EQ(16U, randomized(16, 0).of_tokens(0, 16).size());
  EXPECT_THROW(randomized(16, 0).of_tokens(0, 17), Error);
  EXPECT_THROW(randomized(16, 0).of_offsets(0, 17), Error);
}

}  // namespace
}  // namespace che
