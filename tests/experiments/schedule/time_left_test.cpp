#include "experiments/schedule/time_left.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(DurationText, ChoosesTheUnit) {
  EXPECT_EQ("0 s", duration_text(0.2));
  EXPECT_EQ("99 s", duration_text(99.4));
  EXPECT_EQ("2 min", duration_text(99.6));
  EXPECT_EQ("90 min", duration_text(5400));
  EXPECT_EQ("3.4 h", duration_text(12'300));
  EXPECT_EQ("16 h", duration_text(58'000));
  EXPECT_EQ("380000 h", duration_text(1'374'922'440));
}

TEST(DurationText, NamesTheUnitOfARangeOnce) {
  EXPECT_EQ("12 to 15 min", duration_text(720, 900));
  EXPECT_EQ("12 min", duration_text(719, 722));
  EXPECT_EQ("90 s to 2 min", duration_text(90, 120));
}

TEST(TimeLeft, DiscardsWhatCameBeforeTheFirstReport) {
  TimeLeft left(100);
  EXPECT_FALSE(left.estimate().has_value());
  left.report(1, 50);  // A slow start.
  EXPECT_FALSE(left.estimate().has_value());
  left.report(11, 51);
  ASSERT_TRUE(left.estimate().has_value());
  EXPECT_DOUBLE_EQ(8.9, *left.estimate());
}

TEST(TimeLeft, IsByTheMedianSpeed) {
  TimeLeft left(1000);
  double done = 0;
  double seconds = 0;
  left.report(done, seconds);
  for (const double speed : {10.0, 40.0, 1.0, 20.0, 1000.0, 30.0, 25.0, 35.0}) {
    done += 0.1 * speed;
    seconds += 0.1;
    left.report(done, seconds);
  }
  EXPECT_NEAR((1000 - done) / 30, *left.estimate(), 1e-9);
}

TEST(TimeLeft, ForgetsOldSpeeds) {
  TimeLeft left(1e6);
  double done = 0;
  for (int second = 0; second <= 200; ++second) {
    left.report(done, second);
    done += second < 140 ? 1 : 10;
  }
  EXPECT_DOUBLE_EQ((1e6 - 740) / 10, *left.estimate());
}

TEST(JobTimes, SideBySideAreSharedByTheWorkersAndAtLeastTheLongest) {
  EXPECT_EQ(0, side_by_side({}, 2));
  EXPECT_EQ(30, side_by_side({10, 10, 10}, 1));
  EXPECT_EQ(15, side_by_side({10, 10, 10}, 2));
  EXPECT_EQ(40, side_by_side({10, 40, 10}, 2));
  EXPECT_EQ(40, side_by_side({40}, 8));
}

TEST(JobTimes, AreLongerUnderLoadWhereThereIsNoFreeCore) {
  EXPECT_EQ(1, slowdown(2, 0, 4));
  EXPECT_EQ(1, slowdown(2, 2, 4));
  EXPECT_EQ(1.5, slowdown(2, 4, 4));
  EXPECT_EQ(4, slowdown(2, 6, 2));
}

}  // namespace
}  // namespace che
