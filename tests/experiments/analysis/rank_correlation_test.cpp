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

// The observed order counts among the random ones: no p is zero.
TEST(RankCorrelation, PIsNeverZero) {
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(rank_correlation_p(values, values), 1.0 / (kRandomOrders + 1));
}

}  // namespace
}  // namespace che
