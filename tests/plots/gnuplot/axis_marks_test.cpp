#include "plots/gnuplot/axis_marks.h"

#include <gtest/gtest.h>

#include <string>

namespace che {
namespace {

TEST(AxisMarks, StepsByOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(1, mark_step(5, 5));
  EXPECT_DOUBLE_EQ(2, mark_step(6, 5));
  EXPECT_DOUBLE_EQ(5, mark_step(24, 5));
  EXPECT_DOUBLE_EQ(100, mark_step(500, 5));
  EXPECT_DOUBLE_EQ(0.02, mark_step(0.07, 4));
}

TEST(AxisMarks, AShortAxisHasFewerMarks) {
  const auto has_step = [](double lowest, double length, const char* step) {
    return percent_axis('x', lowest, length).find(std::string(" 0,") + step + ",100") != std::string::npos;
  };
  EXPECT_TRUE(has_step(50, 0, "10"));
  EXPECT_TRUE(has_step(50, 300, "10"));
  EXPECT_TRUE(has_step(50, 150, "20"));
  EXPECT_TRUE(has_step(50, 60, "50"));
  EXPECT_TRUE(has_step(10, 300, "20"));
}

}  // namespace
}  // namespace che
