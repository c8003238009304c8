#include "experiments/range_evaluation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "experiments/model_of_run.h"

namespace che {
namespace {

const std::atomic<int> kGoOn{0};

RunConfig small_config() {
  RunConfig config;
  config.task.reset("stack_manipulation");
  config.encoding.reset("randomized_dape_kerple");
  config.model = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.evaluation.samples = 128;
  return config;
}

std::unique_ptr<Transformer> initialised(const std::vector<RunConfig>& runs) {
  auto model = create_transformer(runs.front(), static_cast<std::int64_t>(runs.size()));
  std::vector<std::int64_t> seeds;
  for (const RunConfig& run : runs) seeds.push_back(run.seed);
  model->parameters().initialise(seeds);
  model->project();
  return model;
}

// The memory budget decides how batches are split, and changes no sample, draw or mask.
TEST(RangeEvaluation, DoesNotDependOnTheMemoryBudget) {
  for (const char* eval_dropout : {"off", "on"}) {
    RunConfig config = small_config();
    config.evaluation.eval_dropout = eval_dropout;
    const auto model = initialised({config});
    const auto whole = evaluate_length(*model, {config}, 30, kGoOn);
    config.execution.memory_gib = 1e-4;
    ASSERT_LT(examples_within(*model, 61, config.execution.memory_gib), 64);
    const auto split = evaluate_length(*model, {config}, 30, kGoOn);
    ASSERT_TRUE(whole && split);
    EXPECT_NEAR(whole->front().accuracy, split->front().accuracy, 1e-9);
    EXPECT_NEAR(whole->front().loss, split->front().loss, 1e-6);
  }
}

TEST(RangeEvaluation, MeasuresReplicasOnTheSameSamples) {
  const RunConfig config = small_config();
  RunConfig other = config;
  other.seed = 4;
  const auto both = evaluate_length(*initialised({config, other}), {config, other}, 20, kGoOn);
  const auto second = evaluate_length(*initialised({other}), {other}, 20, kGoOn);
  ASSERT_TRUE(both && second);
  ASSERT_EQ(2U, both->size());
  EXPECT_NEAR((*both)[1].accuracy, second->front().accuracy, 1e-9);
  EXPECT_NEAR((*both)[1].loss, second->front().loss, 1e-6);
  EXPECT_NE((*both)[0].loss, (*both)[1].loss);
}

TEST(RangeEvaluation, DrawsSamplesByItsSeed) {
  RunConfig config = small_config();
  const auto model = initialised({config});
  const auto first = evaluate_length(*model, {config}, 20, kGoOn);
  config.evaluation.seed = 1;
  const auto second = evaluate_length(*model, {config}, 20, kGoOn);
  EXPECT_NE(first->front().loss, second->front().loss);
}

TEST(RangeEvaluation, StopsWhenAsked) {
  const std::atomic<int> stop{15};
  const RunConfig config = small_config();
  EXPECT_FALSE(evaluate_length(*initialised({config}), {config}, 20, stop).has_value());
}

TEST(RangeEvaluation, HoldsAtLeastOneExampleAndAtMostABatch) {
  const auto model = initialised({small_config()});
  EXPECT_EQ(1, examples_within(*model, 1500, 1e-9));
  EXPECT_EQ(kEvaluationBatch, examples_within(*model, 10, 1000));
}

TEST(RangeEvaluation, FusedAttentionNeedsNoMemoryForPairs) {
  RunConfig config = small_config();
  const auto fused = initialised({config});
  config.execution.kernels = "reference";
  const auto reference = initialised({config});
  EXPECT_LT(10 * fused->forward_bytes(1500, 64), reference->forward_bytes(1500, 64));
  EXPECT_EQ(reference->forward_bytes(1500, 2, /*observed=*/true),
            fused->forward_bytes(1500, 2, /*observed=*/true));
}

}  // namespace
}  // namespace che
