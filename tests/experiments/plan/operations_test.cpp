#include "experiments/plan/operations.h"

#include <gtest/gtest.h>

#include "experiments/store/needs.h"
#include "tests/experiments/store/made_up_results.h"

namespace che {
namespace {

// even_pairs has an output symbol: T = length + 1.
RunConfig small_config() {
  RunConfig config = made_up_config("even_pairs", "dape_alibi");
  config.model.shape() = {.width = 8, .layers = 2, .heads = 4};
  config.encoding.dape->hidden = 16;
  config.training.steps = 10;
  config.training.batch_size = 32;
  config.training.first_length = 3;
  config.training.last_length = 4;
  config.evaluation.first_length = 9;
  config.evaluation.last_length = 19;
  config.evaluation.length_step = 10;
  config.evaluation.samples = 64;
  return config;
}

double forward(double t) { return 2 * (24 * t * 8 * 8 + 4 * t * t * 8 + 6 * t * t * 4 * 16); }

EvaluationRow row_at(std::int64_t length) { return {.length = length, .samples = 64}; }

TEST(Operations, AreThoseOfItsFormula) {
  const RunConfig config = small_config();
  EXPECT_DOUBLE_EQ(training_step_operations(config), 3 * 32 * (forward(4) + forward(5)) / 2);
  const Operations whole = run_operations(config);
  EXPECT_DOUBLE_EQ(whole.training, 10 * training_step_operations(config));
  EXPECT_DOUBLE_EQ(whole.evaluation, 64 * (forward(10) + forward(20)));
  EXPECT_DOUBLE_EQ(whole.all(), whole.training + whole.evaluation);
}

// T (T + 1) / 2 pairs in place of T^2.
TEST(Operations, OfADecoderEndAtTheQuery) {
  RunConfig config = small_config();
  const double tokens_alone = 64 * 2 * 24 * 8 * 8 * (10 + 20);
  const double pairs = run_operations(config).evaluation - tokens_alone;
  config.model.kind = "decoder";
  EXPECT_DOUBLE_EQ(run_operations(config).evaluation,
                   tokens_alone + pairs * (10 * 11 / 2 + 20 * 21 / 2) / (100 + 400));
}

TEST(Operations, LeftAreTheStepsAndLengthsToCome) {
  const RunConfig config = small_config();
  StoredRun stored;
  stored.status.step = 4;
  EXPECT_DOUBLE_EQ(assess(config, stored, true).left.training, 6 * training_step_operations(config));
  EXPECT_DOUBLE_EQ(assess(config, stored, false).left.all(), run_operations(config).all());
  stored.status.step = 10;
  stored.evaluation = {row_at(9)};
  EXPECT_DOUBLE_EQ(assess(config, stored, true).left.training, 0);
  EXPECT_DOUBLE_EQ(assess(config, stored, true).left.evaluation, 64 * forward(20));
  EXPECT_DOUBLE_EQ(assess(config, stored, false).left.all(), run_operations(config).all())
      << "rows of a lost model do not count";
  stored.evaluation.push_back(row_at(19));
  EXPECT_DOUBLE_EQ(assess(config, stored, false).left.all(), 0);
}

}  // namespace
}  // namespace che
