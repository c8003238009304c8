#include "experiments/training/metrics_log.h"

#include <gtest/gtest.h>

namespace che {
namespace {

MetricsRow measured(std::int64_t step) {
  const auto value = static_cast<double>(step);
  return {.step = step,
          .loss = 1 / value,
          .accuracy = 0.3 * value,
          .gradient_norm = value * value,
          .seconds = value};
}

void expect_same(const MetricsLog& one, const MetricsLog& other) {
  ASSERT_EQ(one.rows().size(), other.rows().size());
  for (std::size_t i = 0; i < one.rows().size(); ++i) {
    EXPECT_EQ(one.rows()[i].step, other.rows()[i].step);
    EXPECT_EQ(one.rows()[i].loss, other.rows()[i].loss);
    EXPECT_EQ(one.rows()[i].accuracy, other.rows()[i].accuracy);
    EXPECT_EQ(one.rows()[i].gradient_norm, other.rows()[i].gradient_norm);
  }
  EXPECT_EQ(one.sums().steps, other.sums().steps);
  EXPECT_EQ(one.sums().loss, other.sums().loss);
}

// A checkpoint holds what add() left: at the last step that is whole rows and no sums, whatever log_steps is.
TEST(MetricsLog, EndsWithARowAtTheLastStep) {
  for (const std::int64_t log_steps : {1, 7, 10, 50, 100}) {
    MetricsLog log(log_steps, 50);
    for (std::int64_t step = 1; step <= 50; ++step) log.add(measured(step));
    ASSERT_FALSE(log.rows().empty()) << log_steps;
    EXPECT_EQ(50, log.rows().back().step) << log_steps;
    EXPECT_EQ(0, log.sums().steps) << log_steps;
  }
}

// Rows are written before the checkpoint, so that a killed run may find rows of later steps.
TEST(MetricsLog, GoesOnFromAnyStepToTheSameRows) {
  constexpr std::int64_t kSteps = 23;
  MetricsLog straight(7, kSteps);
  for (std::int64_t step = 1; step <= kSteps; ++step) straight.add(measured(step));
  for (std::int64_t stop = 0; stop <= kSteps; ++stop) {
    MetricsLog stopped(7, kSteps);
    for (std::int64_t step = 1; step <= stop; ++step) stopped.add(measured(step));
    MetricsLog resumed(7, kSteps);
    resumed.resume(straight.rows(), stop, stopped.sums());
    for (std::int64_t step = stop + 1; step <= kSteps; ++step) resumed.add(measured(step));
    expect_same(straight, resumed);
  }
}

TEST(MetricsLog, EndsARowEarlyOnRequest) {
  MetricsLog log(100, 1000);
  log.end_row(0, 0);
  EXPECT_TRUE(log.rows().empty());
  log.add(measured(1));
  log.add(measured(2));
  log.end_row(2, 9);
  ASSERT_EQ(1U, log.rows().size());
  EXPECT_EQ(2, log.rows()[0].step);
  EXPECT_EQ(0.75, log.rows()[0].loss);
  EXPECT_EQ(9, log.rows()[0].seconds);
}

}  // namespace
}  // namespace che
