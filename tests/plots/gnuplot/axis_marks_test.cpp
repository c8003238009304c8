#include "plots/gnuplot/axis_marks.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(AxisMarks, StepsByOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(1, mark_step(5, 5));
  EXPECT_DOUBLE_EQ(2, mark_step(6, 5));
  EXPECT_DOUBLE_EQ(5, mark_step(24, 5));
  EXPECT_DOUBLE_EQ(100, mark_step(500, 5));
  EXPECT_DOUBLE_EQ(0.02, mark_step(0.07, 4));
}

}  // namespace
}  // namespace che
