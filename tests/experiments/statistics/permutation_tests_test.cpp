#include "experiments/statistics/permutation_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/random.h"

namespace che {
namespace {

// Darwin's cross- and self-fertilized maize, in eighths of an inch. Fisher ("The Design of
// Experiments", 1935, section 21) counts 863 of the 32768 assignments of signs whose sum reaches the
// observed 314, on each side.
TEST(PairedTest, CountsAsFisherDid) {
  const std::vector<double> maize = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
  EXPECT_DOUBLE_EQ(sign_flip_p(maize, Aggregate::kMean), 2 * 863.0 / 32768);
}

TEST(PairedTest, AllOfOneSignGiveTheLeastP) {
  EXPECT_DOUBLE_EQ(sign_flip_p({0.1, 0.3, 0.2}, Aggregate::kMean), 2.0 / 8);
  EXPECT_DOUBLE_EQ(sign_flip_p({-0.1, -0.3, -0.2}, Aggregate::kMean), 2.0 / 8);
  EXPECT_DOUBLE_EQ(sign_flip_p({0.7}, Aggregate::kMean), 1);
}

// Assignments of 1, 2, 3: sums 6 4 2 0 and their negatives; observed 2 + 3 - 1 = 4.
TEST(PairedTest, OfThreeDifferencesByHand) {
  EXPECT_DOUBLE_EQ(sign_flip_p({-1, 2, 3}, Aggregate::kMean), 4.0 / 8);
  EXPECT_DOUBLE_EQ(sign_flip_p({0, 0, 0}, Aggregate::kMean), 1);
}

// Of 0.1, 0.2, 0.3 the median stays 0.2 when the sign of 0.1 flips.
TEST(PairedTest, TheAggregateIsTheStatistic) {
  EXPECT_DOUBLE_EQ(sign_flip_p({0.1, 0.2, 0.3}, Aggregate::kMedian), 4.0 / 8);
}

// 0.1 + 0.2 - 0.3 is no zero to a machine.
TEST(PairedTest, RoundingDecidesNothing) {
  EXPECT_DOUBLE_EQ(sign_flip_p({0.1, 0.2, -0.3}, Aggregate::kMean), 1);
}

TEST(PairedTest, ManyPairsAreSampledAndAgreeWithTheNormalLimit) {
  // 40 differences of size 1, 26 of them positive: the sum of signs is 12, its deviation sqrt(40).
  std::vector<double> differences(40, 1.0);
  for (std::size_t i = 0; i < 14; ++i) differences[i] = -1;
  const double p = sign_flip_p(differences, Aggregate::kMean);
  // Exact binomial: 2 P(X >= 26), X ~ B(40, 1/2).
  double tail = 0;
  for (int k = 26; k <= 40; ++k) {
    tail += std::exp(std::lgamma(41) - std::lgamma(k + 1) - std::lgamma(41 - k) - 40 * std::log(2));
  }
  EXPECT_NEAR(p, 2 * tail, 0.004);
  EXPECT_EQ(p, sign_flip_p(differences, Aggregate::kMean));
}

TEST(PairedTest, LeastPIsThatOfTheFurthestValues) {
  EXPECT_DOUBLE_EQ(least_sign_flip_p(6, Aggregate::kMean).value(), 2 / 64.0);
  EXPECT_DOUBLE_EQ(least_sign_flip_p(6, Aggregate::kMedian).value(), 8 / 64.0);
  EXPECT_DOUBLE_EQ(least_relabelling_p(4, 4, Aggregate::kMean), 2 / 70.0);
  EXPECT_DOUBLE_EQ(least_relabelling_p(1, 5, Aggregate::kMean), 1 / 6.0);
  EXPECT_FALSE(least_sign_flip_p(21, Aggregate::kMean));
  EXPECT_DOUBLE_EQ(least_relabelling_p(10, 11, Aggregate::kMean), 1.0 / 100'001);
  // The greatest value below and the least above can change places, and the medians stay.
  EXPECT_DOUBLE_EQ(least_relabelling_p(4, 4, Aggregate::kMedian), 4 / 70.0);
  EXPECT_DOUBLE_EQ(least_relabelling_p(4, 4, Aggregate::kIqm), 4 / 70.0);
  EXPECT_DOUBLE_EQ(least_relabelling_p(3, 5, Aggregate::kMedian), 3 / 56.0);
  EXPECT_DOUBLE_EQ(least_relabelling_p(5, 3, Aggregate::kMedian), 3 / 56.0);
}

TEST(PairedTest, VeryManyPairsAreDrawnLessOften) {
  EXPECT_EQ(draws_of(kMaxFullyDrawn), kMaxDraws);
  EXPECT_EQ(draws_of(std::size_t{1} << 15), std::size_t{1} << 15);
  EXPECT_EQ(draws_of(std::size_t{1} << 40), 1000U);
}

// By bisection of the closed forms that the distribution of t has for 3 and for 1 degrees of freedom.
TEST(PairedTest, DetectableDifferenceIsThatOfTheTTest) {
  EXPECT_NEAR(detectable_difference({1, 2, 3, 4}), 2.685861418511875, 1e-9);
  EXPECT_NEAR(detectable_difference({0.1, 0.3}), 1.4082586656645868, 1e-9);
}

// All of one group above all of the other: the observed split and its mirror image.
TEST(GroupTest, SeparatedGroupsGiveTheLeastP) {
  EXPECT_EQ(relabellings(4, 4), 70);
  EXPECT_DOUBLE_EQ(relabelling_p({5, 6, 7, 8}, {1, 2, 3, 4}, Aggregate::kMean), 2.0 / 70);
  EXPECT_DOUBLE_EQ(relabelling_p({1, 2, 3, 4}, {5, 6, 7, 8}, Aggregate::kMean), 2.0 / 70);
  EXPECT_DOUBLE_EQ(relabelling_p({0.3}, {0.7}, Aggregate::kMean), 1);
}

// Splits of 1, 2, 4, 9 into one and three: the single value less the mean of the others is -4, -8/3, 0 or
// 20/3.
TEST(GroupTest, OfOneAgainstThreeByHand) {
  EXPECT_DOUBLE_EQ(relabelling_p({9}, {1, 2, 4}, Aggregate::kMean), 1.0 / 4);
  EXPECT_DOUBLE_EQ(relabelling_p({1}, {2, 4, 9}, Aggregate::kMean), 2.0 / 4);
  EXPECT_DOUBLE_EQ(relabelling_p({4}, {1, 2, 9}, Aggregate::kMean), 1);
}

TEST(GroupTest, ManySplitsAreSampledAndAgreeWithTheNormalLimit) {
  RandomStream random(2, Purpose::kStatistics);
  std::vector<double> one(30);
  std::vector<double> other(40);
  for (double& value : one) value = random.normal() + 0.5;
  for (double& value : other) value = random.normal();
  std::vector<double> all = one;
  all.insert(all.end(), other.begin(), other.end());
  const auto mean = [](const std::vector<double>& values) { return aggregate_of(values, Aggregate::kMean); };
  double squares = 0;
  for (const double value : all) squares += (value - mean(all)) * (value - mean(all));
  // The variance of the difference of means over all splits.
  const double deviation = std::sqrt(squares / 69 * (1.0 / 30 + 1.0 / 40));
  const double z = std::abs(mean(one) - mean(other)) / deviation;
  const double p = relabelling_p(one, other, Aggregate::kMean);
  EXPECT_NEAR(p, std::erfc(z / std::sqrt(2)), 0.01);
  EXPECT_EQ(p, relabelling_p(one, other, Aggregate::kMean));
}

// t for four degrees of freedom: quantiles 2.776445 and 0.940965; pooled deviation 1, three against three.
TEST(GroupTest, DetectableDifferenceIsThatOfTheTTest) {
  EXPECT_NEAR(detectable_difference({1, 2, 3}, {5, 6, 7}), (2.776445 + 0.940965) * std::sqrt(2.0 / 3), 1e-5);
}

TEST(GroupTest, BootstrapResamplesBoth) {
  const Interval interval = bootstrap_interval({0, 1}, {0, 1}, Aggregate::kMean);
  EXPECT_EQ(interval.low, -1);
  EXPECT_EQ(interval.high, 1);
}

TEST(PairedTest, BootstrapOfTwoValuesReachesBoth) {
  // The mean of a resample is 0, 0.5 or 1 with weights 1/4, 1/2, 1/4.
  const Interval wide = bootstrap_interval({0, 1}, Aggregate::kMean);
  EXPECT_EQ(wide.low, 0);
  EXPECT_EQ(wide.high, 1);
  const Interval narrow = bootstrap_interval({0, 1}, Aggregate::kMean, 0.4);
  EXPECT_EQ(narrow.low, 0.5);
  EXPECT_EQ(narrow.high, 0.5);
}

TEST(PairedTest, BootstrapOfManyValuesIsNearTheNormalInterval) {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(i % 10);
  // Mean 4.5, deviation sqrt(8.25).
  const Interval interval = bootstrap_interval(values, Aggregate::kMean);
  const double half = 1.96 * std::sqrt(8.25 / 200);
  EXPECT_NEAR(interval.low, 4.5 - half, 0.03);
  EXPECT_NEAR(interval.high, 4.5 + half, 0.03);
}

TEST(PairedTest, BootstrapCoversAsOftenAsTablesSay) {
  RandomStream random(1, Purpose::kStatistics);
  const auto coverage = [&](std::size_t n) {
    constexpr int kExperiments = 600;
    int covered = 0;
    for (int i = 0; i < kExperiments; ++i) {
      std::vector<double> differences(n);
      for (double& difference : differences) difference = random.normal();
      const Interval interval = bootstrap_interval(differences, Aggregate::kMean);
      covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    }
    return covered / double{kExperiments};
  };
  for (const auto& [pairs, percent] : kIntervalCoverage) {
    EXPECT_NEAR(100 * coverage(pairs), percent, 3.5) << pairs;
  }
}

// Holm (1979) by hand: sorted 0.005 0.01 0.03 0.04, times 4 3 2 1, made ascending.
TEST(PairedTest, HolmByHand) {
  const auto adjusted = holm_adjusted({0.01, 0.04, std::nullopt, 0.03, 0.005});
  const std::vector<double> expected = {0.03, 0.06, -1, 0.06, 0.02};  // -1: nothing.
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(adjusted[i].value_or(-1), expected[i]) << i;
  }
  EXPECT_EQ(holm_adjusted({0.7, 0.6}), (std::vector<std::optional<double>>{1, 1}));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

// The example of SciPy's documentation of spearmanr: ranks 1 2 3.5 5 3.5 on the right.
const std::vector<double> kX = {1, 2, 3, 4, 5};
const std::vector<double> kY = {5, 6, 7, 8, 7};

TEST(RankCorrelation, TiesShareTheMeanOfTheirRanks) {
  EXPECT_NEAR(spearman(kX, kY).value(), 0.8207826816681233, 1e-12);
}

TEST(RankCorrelation, DependsOnOrderAlone) {
  const std::vector<double> x = {3, 1, 2, 10};
  EXPECT_DOUBLE_EQ(spearman(x, {9, 0.1, 1, 1000}).value(), 1);
  EXPECT_DOUBLE_EQ(spearman(x, {-9, -0.1, -1, -1000}).value(), -1);
}

TEST(RankCorrelation, IsNothingWithoutAnOrder) {
  EXPECT_FALSE(spearman({1, 1, 1}, {1, 2, 3}).has_value());
  EXPECT_FALSE(spearman({1, 2, 3}, {2, 2, 2}).has_value());
  EXPECT_FALSE(spearman({1}, {2}).has_value());
  EXPECT_FALSE(spearman({}, {}).has_value());
}

// The share of all orders of x, by counting.
double exact_p(const std::vector<double>& x, const std::vector<double>& y) {
  const double observed = std::abs(spearman(x, y).value()) - 1e-12;
  std::vector<double> order = x;
  std::ranges::sort(order);
  double as_far = 0;
  double all = 0;
  do {
    all += 1;
    as_far += std::abs(spearman(order, y).value()) >= observed ? 1 : 0;
  } while (std::ranges::next_permutation(order).found);
  return as_far / all;
}

TEST(RankCorrelation, PIsTheShareOfOrdersAsFarFromZero) {
  EXPECT_DOUBLE_EQ(rank_correlation_p({{kX, kY}}), exact_p(kX, kY));
  // With nine values it takes a random sample of the orders.
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> y = {2, 1, 4, 9, 3, 5, 8, 6, 7};
  const double exact = exact_p(x, y);
  const double p = rank_correlation_p({{x, y}});
  EXPECT_NEAR(p, exact, 4 * std::sqrt(exact * (1 - exact) / kRandomOrders));
  EXPECT_EQ(p, rank_correlation_p({{x, y}})) << "the same every time";
}

// The mean of two tasks' correlations under each of the 24 orders that both share, by counting.
TEST(RankCorrelation, JointPPermutesAllTasksAlike) {
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<double> one = {1, 2, 4, 3};
  const std::vector<double> other = {2, 1, 3, 3};
  const auto mean = [&](const std::vector<std::size_t>& order) {
    std::vector<double> a, b;
    for (const std::size_t i : order) {
      a.push_back(one[i]);
      b.push_back(other[i]);
    }
    return std::abs(*spearman(x, a) + *spearman(x, b));
  };
  std::vector<std::size_t> order = {0, 1, 2, 3};
  const double observed = mean(order);
  int as_far = 0;
  do as_far += mean(order) >= observed - 1e-12 ? 1 : 0;
  while (std::ranges::next_permutation(order).found);
  EXPECT_DOUBLE_EQ(rank_correlation_p({{x, one}, {x, other}}), as_far / 24.0);
  // Two tasks with one order tell no more than one task.
  EXPECT_DOUBLE_EQ(rank_correlation_p({{x, x}, {x, x}}), 2.0 / 24);
}

// The observed order counts among the random ones: no p is zero.
TEST(RankCorrelation, PIsNeverZero) {
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(rank_correlation_p({{values, values}}), 1.0 / (kRandomOrders + 1));
}

}  // namespace
}  // namespace che
