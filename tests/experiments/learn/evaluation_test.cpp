#include "experiments/learn/evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"
#include "tasks/declared/task_definition.h"
#include "tests/models/encodings/encoding_models.h"

namespace che {
namespace {

const std::atomic<int> kGoOn{0};

RunConfig small_config() {
  RunConfig config;
  config.task.reset("stack_manipulation");
  config.encoding.reset("randomized_dape_kerple");
  config.model.shape() = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.evaluation.samples = 128;
  return config;
}

// Calls `use` with a batch of `tokens` tokens and one output, and with a pass over it.
template <class Use>
std::int64_t with_batch(const RunConfig& config, std::int64_t tokens, const Use& use) {
  const c10::NoGradGuard no_grad;
  SequenceBatch batch{.size = kEvaluationBatch, .width = tokens, .outputs = 1};
  batch.tokens.resize(static_cast<std::size_t>(batch.size * tokens));
  batch.targets.resize(static_cast<std::size_t>(batch.size));
  batch.mask.resize(static_cast<std::size_t>(batch.size), 1);
  const auto positions = create_positions(config, 5, Purpose::kEvaluationPositions, 9);
  return use(batch, Pass{.positions = positions});
}

std::int64_t forward_bytes(const Model& model, const RunConfig& config, std::int64_t tokens,
                           std::int64_t examples) {
  return with_batch(config, tokens, [&](const SequenceBatch& batch, const Pass& pass) {
    return peak_tensor_bytes([&] { predict_rows(model, batch, 0, examples, pass); });
  });
}

std::int64_t examples_of(const Model& model, const RunConfig& config, std::int64_t tokens) {
  return with_batch(config, tokens, [&](const SequenceBatch& batch, const Pass& pass) {
    return examples_within(config.execution.memory_gib, model, batch, pass);
  });
}

// The memory budget decides how batches are split, and changes no sample, draw or mask.
TEST(Evaluation, DoesNotDependOnTheMemoryBudget) {
  for (const bool eval_dropout : {false, true}) {
    RunConfig config = small_config();
    config.evaluation.eval_dropout = eval_dropout;
    const auto model = initialised(config, {config.seed});
    const auto whole = evaluate_length(*model, {config}, 30, kGoOn);
    config.execution.memory_gib = 1e-4;
    ASSERT_LT(examples_of(*model, config, 61), 64);
    const auto split = evaluate_length(*model, {config}, 30, kGoOn);
    ASSERT_TRUE(whole && split);
    EXPECT_NEAR(whole->rows.front().accuracy, split->rows.front().accuracy, 1e-9);
    EXPECT_NEAR(whole->rows.front().loss, split->rows.front().loss, 1e-6);
  }
}

// This holds for any amount of memory. One of 70,000 tokens is not even measured.
TEST(Evaluation, TakesFewVeryLongSequencesAtOnce) {
  RunConfig config = small_config();
  config.encoding.reset("none");
  config.model.shape() = {.width = 4, .layers = 1, .heads = 1, .ffn_multiple = 1};
  config.execution.memory_gib = 1000;
  const auto model = initialised(config, {config.seed});
  EXPECT_EQ(1, examples_of(*model, config, 70'000));
  EXPECT_EQ(42, examples_of(*model, config, 10'000));
  EXPECT_EQ(64, examples_of(*model, config, 500));
}

TEST(Evaluation, MeasuresReplicasOnTheSameSamples) {
  const RunConfig config = small_config();
  RunConfig other = config;
  other.seed = 4;
  const auto both =
      evaluate_length(*initialised(config, {config.seed, other.seed}), {config, other}, 20, kGoOn);
  const auto second = evaluate_length(*initialised(other, {other.seed}), {other}, 20, kGoOn);
  ASSERT_TRUE(both && second);
  ASSERT_EQ(2U, both->rows.size());
  EXPECT_NEAR(both->rows[1].accuracy, second->rows.front().accuracy, 1e-9);
  EXPECT_NEAR(both->rows[1].loss, second->rows.front().loss, 1e-6);
  EXPECT_NE(both->rows[0].loss, both->rows[1].loss);
}

TEST(Evaluation, HasTheSameBitsAloneAndInLockStep) {
  RunConfig config = small_config();
  config.evaluation.samples = 448;
  std::vector<RunConfig> runs(3, config);
  for (std::size_t r = 0; r < runs.size(); ++r) runs[r].seed = static_cast<std::int64_t>(r);
  const auto all = evaluate_length(*initialised(config, {0, 1, 2}), runs, 20, kGoOn);
  ASSERT_TRUE(all);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto alone = evaluate_length(*initialised(config, {runs[r].seed}), {runs[r]}, 20, kGoOn);
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->rows.front().accuracy, all->rows[r].accuracy) << r;
    EXPECT_EQ(alone->rows.front().loss, all->rows[r].loss) << r;
    EXPECT_EQ(alone->rows.front().accuracy_se, all->rows[r].accuracy_se) << r;
  }
}

TEST(Evaluation, DrawsSamplesByItsSeed) {
  RunConfig config = small_config();
  const auto model = initialised(config, {config.seed});
  const auto first = evaluate_length(*model, {config}, 20, kGoOn);
  config.evaluation.seed = 1;
  const auto second = evaluate_length(*model, {config}, 20, kGoOn);
  EXPECT_NE(first->rows.front().loss, second->rows.front().loss);
}

// The sum of nine times 1 / 9 is above 1.
TEST(Evaluation, OfAModelThatIsAlwaysRightIsOne) {
  RunConfig config = small_config();
  config.task = TaskConfig();
  config.task.name = "two_or_more";
  config.task.definition = parse_task_definition(
                               "name: two_or_more\nsymbols: [a, b]\nanswer: accept\nautomaton: \"0 1 a\\n0 1 "
                               "b\\n1 2 a\\n1 2 b\\n2 2 a\\n2 2 b\\n2\\n\"\n",
                               "definition")
                               .canonical();
  config.evaluation.samples = 9 * kEvaluationBatch;
  const auto model = initialised(config, {config.seed});
  const c10::NoGradGuard no_grad;
  const at::Tensor values = model->parameters().values();
  values.zero_().select(-1, -1).fill_(1);  // The bias of the last symbol, 1.
  EXPECT_EQ(1, evaluate_length(*model, {config}, 20, kGoOn)->rows.front().accuracy);
}

TEST(Evaluation, StopsWhenAsked) {
  const std::atomic<int> stop{15};
  const RunConfig config = small_config();
  EXPECT_FALSE(evaluate_length(*initialised(config, {config.seed}), {config}, 20, stop).has_value());
}

TEST(Evaluation, HoldsAtLeastOneExampleAndAtMostABatch) {
  RunConfig config = small_config();
  const auto model = initialised(config, {config.seed});
  config.execution.memory_gib = 1e-9;
  EXPECT_EQ(1, examples_of(*model, config, 300));
  config.execution.memory_gib = 1000;
  EXPECT_EQ(kEvaluationBatch, examples_of(*model, config, 10));
}

TEST(Evaluation, FusedAttentionNeedsNoMemoryForPairs) {
  RunConfig config = small_config();
  const std::int64_t fused = forward_bytes(*initialised(config, {config.seed}), config, 500, 4);
  config.execution.kernels = Kernels::kReference;
  EXPECT_LT(10 * fused, forward_bytes(*initialised(config, {config.seed}), config, 500, 4));
}

// What is measured must not depend on the machine's state: splits decide on rounding.
TEST(Evaluation, TheSameMemoryIsMeasuredWhateverTheThreads) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    for (const char* label : {"cope", "dape_fire", "randomized_rope"}) {
      SCOPED_TRACE(kernels_name(kernels) + " " + label);
      RunConfig config = small_config();
      config.encoding.reset(label);
      config.execution.kernels = kernels;
      const auto model = initialised(config, {config.seed});
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
TEST(Evaluation, StaysWithinTheMemoryBudget) {
  for (const char* label : {"none", "cope", "relative", "fire", "dape_fire", "randomized_dape_kerple"}) {
    for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
      SCOPED_TRACE(kernels_name(kernels) + " " + label);
      RunConfig config = small_config();
      config.encoding.reset(label);
      config.execution.kernels = kernels;
      const auto model = initialised(config, {config.seed});
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
