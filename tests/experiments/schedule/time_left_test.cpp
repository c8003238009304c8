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
  EXPECT_EQ("12 to 15 min", duration_text(TimeRange{.min = 720, .max = 900}));
  EXPECT_EQ("12 min", duration_text(TimeRange{.min = 719, .max = 722}));
  EXPECT_EQ("90 s to 2 min", duration_text(TimeRange{.min = 90, .max = 120}));
}

TEST(TimeLeft, DiscardsWhatCameBeforeTheFirstReport) {
  TimeLeft left(100);
  EXPECT_FALSE(left.estimate().has_value());
  left.report(1, 50);  // A slow start.
  EXPECT_FALSE(left.estimate().has_value());
  left.report(11, 51);
  ASSERT_TRUE(left.estimate().has_value());
  EXPECT_DOUBLE_EQ(8.9, left.estimate()->min);
  EXPECT_DOUBLE_EQ(8.9, left.estimate()->max);
}

TEST(TimeLeft, IsARangeOfQuartiles) {
  TimeLeft left(1000);
  double done = 0;
  double seconds = 0;
  left.report(done, seconds);
  for (const double speed : {10.0, 40.0, 1.0, 20.0, 1000.0, 30.0, 25.0, 35.0}) {
    done += 0.1 * speed;
    seconds += 0.1;
    left.report(done, seconds);
  }
  EXPECT_NEAR((1000 - done) / 35, left.estimate()->min, 1e-9);
  EXPECT_NEAR((1000 - done) / 20, left.estimate()->max, 1e-9);
}

TEST(TimeLeft, ForgetsOldSpeeds) {
  TimeLeft left(1e6);
  double done = 0;
  for (int second = 0; second <= 200; ++second) {
    left.report(done, second);
    done += second < 100 ? 1 : 10;
  }
  EXPECT_DOUBLE_EQ(left.estimate()->min, left.estimate()->max);
}

void expect_range(double min, double max, const TimeRange& range) {
  EXPECT_DOUBLE_EQ(min, range.min);
  EXPECT_DOUBLE_EQ(max, range.max);
}

TEST(JobTimes, SideBySideAreSharedByTheWorkers) {
  expect_range(0, 0, side_by_side({}, 2));
  expect_range(30, 60, side_by_side({{10, 20}, {10, 20}, {10, 20}}, 1));
  expect_range(15, 30, side_by_side({{10, 20}, {10, 20}, {10, 20}}, 2));
}

// However many workers there are.
TEST(JobTimes, SideBySideTakeAsLongAsTheLongest) {
  expect_range(40, 90, side_by_side({{10, 20}, {40, 90}, {10, 20}}, 2));
  expect_range(40, 90, side_by_side({{40, 90}}, 8));
}

TEST(JobTimes, UnderLoadAreLongerWhereThereIsNoFreeCore) {
  const auto loaded = [](double load, std::int64_t cores) {
    return under_load({{.time = {8, 20, 10}}}, 2, load, cores).at(0);
  };
  expect_range(10, 10, loaded(0, 4));
  expect_range(10, 10, loaded(2, 4));
  expect_range(10, 15, loaded(4, 4));
  expect_range(10, 40, loaded(6, 2));
}

TEST(JobTimes, UnderLoadAreTheSameOnAGpu) {
  const std::vector<TimeRange> times =
      under_load({{.time = {8, 20, 10}, .is_on_gpu = true}, {.time = {8, 20, 10}}}, 2, 6, 2);
  ASSERT_EQ(2U, times.size());
  expect_range(10, 10, times[0]);
  expect_range(10, 40, times[1]);
}

}  // namespace
}  // namespace che
