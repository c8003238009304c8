#include "experiments/measure/cost.h"

#include <gtest/gtest.h>

namespace che {
namespace {

RunConfig small_run() {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding.reset("dape_kerple");
  config.model.shape() = {.width = 16, .layers = 1, .heads = 2};
  config.training.steps = 1000;
  config.training.batch_size = 8;
  config.training.last_length = 6;
  config.evaluation.first_length = config.evaluation.last_length = 10;
  config.evaluation.samples = 64;
  return config;
}

// Speeds are measured once, so that equal steps in what a run does are equal steps in its estimate.
TEST(CostEstimate, GrowsWithStepsAndSamples) {
  CostEstimate estimate;
  const auto seconds = [&](std::int64_t steps, std::int64_t samples) {
    RunConfig config = small_run();
    config.training.steps = steps;
    config.evaluation.samples = samples;
    return estimate.seconds(config, run_operations(config));
  };
  const double least = seconds(1000, 64);
  const double steps = seconds(2000, 64) - least;
  const double samples = seconds(1000, 640) - least;
  EXPECT_GT(least, 0);
  EXPECT_GT(steps, 0);
  EXPECT_GT(samples, 0);
  EXPECT_NEAR(seconds(4000, 64), least + 3 * steps, 1e-9 * least);
  EXPECT_NEAR(seconds(1000, 64 + 2 * 576), least + 2 * samples, 1e-9 * least);
}

// A thousand times the operations of a step take longer than one on any machine.
TEST(CostEstimate, MeasuresTheModelItIsAskedFor) {
  CostEstimate estimate;
  RunConfig large = small_run();
  large.model.shape() = {.width = 256, .layers = 4, .heads = 8};
  EXPECT_GT(estimate.seconds(large, run_operations(large)),
            estimate.seconds(small_run(), run_operations(small_run())));
}

// A learned encoding has no rows for the lengths that a list takes the place of.
TEST(CostEstimate, MeasuresAListedLength) {
  RunConfig config = small_run();
  config.encoding.reset("learned");
  config.encoding.options = config.encoding.all_options().with({{"rows", "64"}});
  config.evaluation = {.samples = 64, .listed_lengths = {9, 12}};
  CostEstimate estimate;
  EXPECT_GT(estimate.seconds(config, run_operations(config)), 0);
}

// One sequence of 1,500 tokens, the longest of the tasks: beside a few copies of one layer's attention
// weights, these encodings keep nothing for each pair of tokens. The memory of a job counts what the process
// holds before, so differences are compared.
TEST(JobMemory, CountsStoredPredictions) {
  RunConfig config = small_run();
  config.task.reset("reverse_string");
  config.evaluation = {.samples = 960'000, .listed_lengths = {300}};
  const double without = job_memory_bytes({config});
  config.evaluation.predictions = true;
  EXPECT_GT(job_memory_bytes({config}) - without, 0.99 * 300 * 960'000);
}

TEST(JobMemory, OfLongSequencesIsThatOfAttention) {
  const auto bytes = [](const std::string& encoding) {
    RunConfig config;
    config.task.reset("duplicate_string");
    config.encoding.reset(encoding);
    config.model.shape() = {.width = 64, .layers = 2, .heads = 8};
    config.training.batch_size = 1;
    config.training.first_length = config.training.last_length = 500;
    config.evaluation.first_length = config.evaluation.last_length = 500;
    config.evaluation.samples = 1;
    EXPECT_EQ(1500, config.longest_sequence());
    return job_memory_bytes({config});
  };
  constexpr double kAttentionWeights = 8.0 * 1500 * 1500 * sizeof(float);
  const double plain = bytes("none");
  EXPECT_LE(plain, 2 * 0x1p30);
  for (const char* encoding : {"position_mlp", "pope", "fox", "selective_rope"}) {
    EXPECT_LE(bytes(encoding) - plain, 4 * kAttentionWeights) << encoding;
  }
}

}  // namespace
}  // namespace che
