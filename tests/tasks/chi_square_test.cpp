#include "tests/tasks/chi_square.h"

#include <gtest/gtest.h>

#include <cmath>

namespace che {
namespace {

TEST(Homogeneity, IsThePValueOfPearsonsTest) {
  // Statistic 100/30 + 100/50 with two degrees of freedom.
  EXPECT_NEAR(homogeneity_p_value({10, 20, 30}, {20, 20, 20}), std::exp(-(100.0 / 30 + 2) / 2), 1e-12);
}

TEST(Homogeneity, AllowsSamplesOfDifferentSize) {
  EXPECT_NEAR(homogeneity_p_value({100, 300}, {25, 75}), 1, 1e-12);
  EXPECT_LT(homogeneity_p_value({100, 300}, {50, 50}), 1e-5);
}

TEST(Homogeneity, IgnoresEmptyCellsAndJoinsSparseOnes) {
  EXPECT_NEAR(homogeneity_p_value({0, 10, 0, 20, 30, 0}, {0, 20, 0, 20, 20}),
              homogeneity_p_value({10, 20, 30}, {20, 20, 20}), 1e-12);
  EXPECT_NEAR(homogeneity_p_value({100, 100, 3, 0}, {100, 98, 0, 5}),
              homogeneity_p_value({100, 103}, {100, 103}), 1e-12);
}

TEST(Homogeneity, SeesACertainValueThatDiffers) {
  EXPECT_EQ(homogeneity_p_value({1000}, {1000}), 1);
  EXPECT_LT(homogeneity_p_value({1000, 0}, {0, 1000}), 1e-100);
}

TEST(Uniformity, SeesASmallBias) {
  EXPECT_EQ(uniformity_p_value({50, 50}), 1);
  EXPECT_LT(uniformity_p_value({50'500, 49'500}), 0.01);
}

}  // namespace
}  // namespace che
