#include "experiments/learn/metrics.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/contains.h"

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

// The last checkpoint can be of the step at which a failure ended a row early.
TEST(MetricsLog, OpensARowAgainThatAFailureEnded) {
  MetricsLog log(100, 1000);
  log.add(measured(1));
  log.add(measured(2));
  const MetricSums sums = log.sums();
  log.end_row(2, 9);
  MetricsLog again(100, 1000);
  again.resume(log.rows(), 2, sums);
  EXPECT_TRUE(again.rows().empty());
  EXPECT_EQ(2, again.sums().steps);
}

// Rows of an older copy end before those begin that the checkpoint's sums go on from.
TEST(MetricsLog, DropsRowsThatEndTooEarly) {
  const MetricSums sums{.steps = 3};
  for (const std::int64_t end : {20, 19}) {
    MetricsLog log(10, 100);
    EXPECT_EQ(end == 20, log.resume({{.step = 10}, {.step = end}}, 23, sums));
    EXPECT_EQ(end == 20 ? 2U : 0U, log.rows().size());
  }
  EXPECT_TRUE(MetricsLog(10, 100).resume({}, 23, sums)) << "nothing is dropped";
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Event files of TensorFlow's own writer start with these twelve bytes: the length of the version's event and
// its masked checksum.
TEST(Tensorboard, BeginsAsTensorFlowDoes) {
  const std::string file = tensorboard_events({}, {}, 0);
  EXPECT_EQ(hex(file.substr(0, 12)), "1800000000000000a37f4b22");
  ASSERT_EQ(file.size(), 12 + 24 + 4U);
  EXPECT_EQ(hex(file.substr(12, 24)),
            "090000000000000000"
            "1a0d627261696e2e4576656e743a32");
}

TEST(Tensorboard, AddsARecordARow) {
  const std::string version = tensorboard_events({}, {}, 0);
  const std::string file =
      tensorboard_events({{.step = 300, .loss = 1.5, .accuracy = 0.5, .gradient_norm = 2, .seconds = 4}},
                         {{.length = 41, .samples = 64, .accuracy = 0.25, .loss = 1}}, 10);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + at, sizeof size);
    records.push_back(file.substr(at + 12, size));
    at += 8 + 4 + size + 4;
  }
  ASSERT_EQ(records.size(), 3U);
  // Wall time 14, step 300, then the summary.
  EXPECT_EQ(hex(records[1].substr(0, 12)),
            "09"
            "0000000000002c40"
            "10ac02");
  expect_contains(records[1], {"training/gradient_norm"});
  EXPECT_EQ(std::string::npos, records[1].find("validation"));
  expect_contains(tensorboard_events({{.step = 300, .validation_loss = 2}}, {}, 10), {"validation/loss"});
  EXPECT_EQ(hex(records[2].substr(0, 11)),
            "09"
            "0000000000002c40"
            "1029");
  expect_contains(hex(records[2]), {hex("evaluation/accuracy") + "15"
                                                                 "0000803e"});
}

}  // namespace
}  // namespace che
