#include "experiments/analysis/rank_correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace che {
namespace {

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

// Among all orders of five, by counting.
TEST(RankCorrelation, PIsTheShareOfOrdersAsFarFromZero) {
  std::vector<double> order = kX;
  double as_far = 0;
  double all = 0;
  do {
    all += 1;
    as_far += std::abs(spearman(order, kY).value()) >= std::abs(spearman(kX, kY).value()) - 1e-12 ? 1 : 0;
  } while (std::ranges::next_permutation(order).found);
  ASSERT_EQ(all, 120);
  const double exact = as_far / all;
  const double p = rank_correlation_p(kX, kY);
  EXPECT_NEAR(p, exact, 4 * std::sqrt(exact * (1 - exact) / kRandomOrders));
  EXPECT_EQ(p, rank_correlation_p(kX, kY));
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
  EXPECT_DOUBLE_EQ(joint_rank_correlation_p({{x, one}, {x, other}}), as_far / 24.0);
  // Two tasks with one order tell no more than one task.
  EXPECT_DOUBLE_EQ(joint_rank_correlation_p({{x, x}, {x, x}}), 2.0 / 24);
  std::vector<double> many;
  for (int i = 0; i < 16; ++i) many.push_back(i);
  EXPECT_DOUBLE_EQ(joint_rank_correlation_p({{many, many}}), 1.0 / (kRandomOrders + 1));
}

// The observed order counts among the random ones: no p is zero.
TEST(RankCorrelation, PIsNeverZero) {
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(rank_correlation_p(values, values), 1.0 / (kRandomOrders + 1));
}

}  // namespace
}  // namespace che
