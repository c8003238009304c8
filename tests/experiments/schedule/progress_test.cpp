#include "experiments/schedule/progress.h"

#include <gtest/gtest.h>

#include <limits>

namespace che {
namespace {

Progress training() {
  return {.job = "reverse_string-rope",
          .phase = Phase::kTraining,
          .done = 120,
          .total = 2000,
          .loss = 0.5124,
          .accuracy = 0.712,
          .per_second = 35.12,
          .left = 48};
}

TEST(Progress, SurvivesTheWayThroughItsLine) {
  const auto parsed = parse_progress(to_json_line(training()));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(describe(training()), describe(*parsed));
  EXPECT_EQ(Phase::kTraining, parsed->phase);
  const auto warning = parse_progress(to_json_line(warning_about("run", "its file\nis \xff gone")));
  ASSERT_TRUE(warning.has_value());
  EXPECT_EQ(Phase::kWarning, warning->phase);
  EXPECT_TRUE(warning->text.starts_with("its file\nis "));
  EXPECT_FALSE(warning->left.has_value());
}

TEST(Progress, TakesALossThatIsNotFinite) {
  Progress progress = training();
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(parse_progress(to_json_line(progress)).has_value());
}

TEST(Progress, IgnoresOtherLines) {
  for (const char* line : {"", "text", "[]", "{}", R"({"job":"a","phase":"training"})",
                           R"({"job":"a","phase":"dreaming","done":1,"total":2,"loss":0,"accuracy":0,)"
                           R"("per_second":1,"text":""})"}) {
    EXPECT_FALSE(parse_progress(line).has_value()) << line;
  }
}

TEST(Progress, IsDescribedWithTheTimeLeftFirst) {
  EXPECT_EQ("reverse_string-rope: step 120/2000, 48 s left, loss 0.512, accuracy 71.2 %, 35.1 steps/s",
            describe(training()));
  Progress evaluating = training();
  evaluating.phase = Phase::kEvaluating;
  evaluating.left.reset();
  EXPECT_EQ("reverse_string-rope: length 120/2000, loss 0.512, accuracy 71.2 %, 35.1 lengths/s",
            describe(evaluating));
}

}  // namespace
}  // namespace che
