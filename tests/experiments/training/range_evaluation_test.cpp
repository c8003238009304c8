#include "experiments/training/range_evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "experiments/training/model_factory.h"
#include "experiments/training/thread_limit.h"
#include "models/memory_probe.h"

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

void forward(const Transformer& model, const RunConfig& config, std::int64_t tokens, std::int64_t examples) {
  const c10::NoGradGuard no_grad;
  const auto positions = create_positions(config, 5, Purpose::kEvaluationPositions, 9);
  model.forward(at::zeros({examples, tokens}, at::kLong), 1, positions, {});
}

std::int64_t forward_bytes(const Transformer& model, const RunConfig& config, std::int64_t tokens,
                           std::int64_t examples) {
  return peak_tensor_bytes([&] { forward(model, config, tokens, examples); });
}

std::int64_t examples_of(const Transformer& model, const RunConfig& config, std::int64_t tokens) {
  return examples_within(config.execution.memory_gib,
                         [&](std::int64_t examples) { forward(model, config, tokens, examples); });
}

// The memory budget decides how batches are split, and changes no sample, draw or mask.
TEST(RangeEvaluation, DoesNotDependOnTheMemoryBudget) {
  for (const bool eval_dropout : {false, true}) {
    RunConfig config = small_config();
    config.evaluation.eval_dropout = eval_dropout;
    const auto model = initialised({config});
    const auto whole = evaluate_length(*model, {config}, 30, kGoOn);
    config.execution.memory_gib = 1e-4;
    ASSERT_LT(examples_of(*model, config, 61), 64);
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
  RunConfig config = small_config();
  const auto model = initialised({config});
  config.execution.memory_gib = 1e-9;
  EXPECT_EQ(1, examples_of(*model, config, 300));
  config.execution.memory_gib = 1000;
  EXPECT_EQ(kEvaluationBatch, examples_of(*model, config, 10));
}

TEST(RangeEvaluation, FusedAttentionNeedsNoMemoryForPairs) {
  RunConfig config = small_config();
  const std::int64_t fused = forward_bytes(*initialised({config}), config, 500, 4);
  config.execution.kernels = "reference";
  EXPECT_LT(10 * fused, forward_bytes(*initialised({config}), config, 500, 4));
}

// What is measured must not depend on the machine's state: splits decide on rounding.
TEST(RangeEvaluation, TheSameMemoryIsMeasuredWhateverTheThreads) {
  for (const char* kernels : {"fused", "reference"}) {
    for (const char* label : {"cope", "dape_fire", "randomized_rope"}) {
      SCOPED_TRACE(std::string(kernels) + " " + label);
      RunConfig config = small_config();
      config.encoding.reset(label);
      config.execution.kernels = kernels;
      const auto model = initialised({config});
      std::vector<std::int64_t> bytes;
      for (const std::int64_t threads : {1, 2, 2}) {
        const ThreadLimit limit(threads);
        bytes.push_back(forward_bytes(*model, config, 200, 8));
      }
      EXPECT_EQ(bytes[0], bytes[1]);
      EXPECT_EQ(bytes[1], bytes[2]);
    }
  }
}

// Whatever the budget, what a split batch takes stays within it where two examples do.
TEST(RangeEvaluation, StaysWithinTheMemoryBudget) {
  for (const char* label : {"none", "cope", "relative", "fire", "dape_fire", "randomized_dape_kerple"}) {
    for (const char* kernels : {"fused", "reference"}) {
      SCOPED_TRACE(std::string(kernels) + " " + label);
      RunConfig config = small_config();
      config.encoding.reset(label);
      config.execution.kernels = kernels;
      const auto model = initialised({config});
      const std::int64_t two = forward_bytes(*model, config, 90, 2);
      for (const std::int64_t pairs : {2, 3, 10, 30}) {
        config.execution.memory_gib = static_cast<double>(pairs * two) * 0x1p-30;
        const std::int64_t examples = examples_of(*model, config, 90);
        EXPECT_GE(examples, 2 * pairs);
        EXPECT_LE(forward_bytes(*model, config, 90, examples), pairs * two);
      }
    }
  }
}

}  // namespace
}  // namespace che
