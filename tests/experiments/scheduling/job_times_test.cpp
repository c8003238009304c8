#include "experiments/scheduling/job_times.h"

#include <gtest/gtest.h>

namespace che {
namespace {

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
    return under_load({{.time = {10, 20}}}, 2, load, cores).at(0);
  };
  expect_range(10, 20, loaded(0, 4));
  expect_range(10, 20, loaded(2, 4));
  expect_range(10, 30, loaded(4, 4));
  expect_range(10, 80, loaded(6, 2));
}

TEST(JobTimes, UnderLoadAreTheSameOnAGpu) {
  const std::vector<TimeRange> times =
      under_load({{.time = {10, 20}, .is_on_gpu = true}, {.time = {10, 20}}}, 2, 6, 2);
  ASSERT_EQ(2U, times.size());
  expect_range(10, 20, times[0]);
  expect_range(10, 80, times[1]);
}

}  // namespace
}  // namespace che
