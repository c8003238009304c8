// Training and evaluation on a text: the shipped novels and a small decoder.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <span>
#include <vector>

#include "experiments/learn/batches.h"
#include "experiments/learn/evaluation.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/run_workload.h"
#include "tests/experiments/plan/read_sweep_text.h"

namespace che {
namespace {

const std::atomic<int> kNeverStop{0};

constexpr const char* kTextConfig = R"(
name: small
base:
  text: austen
  encoding: kerple
  learning_rate: 1e-2
  model: {width: 32, layers: 2, heads: 2, ffn_multiple: 2}
  training: {steps: 12, batch_size: 4, last_length: 24, first_length: 24}
  evaluation: {lengths: [24, 48, 96], last: 16}
  log: {every_steps: 4, validation_steps: 8}
)";

RunConfig text_config() { return read(kTextConfig).runs.front(); }

std::vector<MeasuredStep> train_to(TrainingState& state, std::int64_t step) {
  std::vector<MeasuredStep> steps;
  train(
      state,
      [&](std::span<const MeasuredStep> measured) {
        steps.insert(steps.end(), measured.begin(), measured.end());
        return true;
      },
      step);
  return steps;
}

TEST(TextTraining, LearnsAndMeasuresTheValidationPart) {
  RunConfig config = text_config();
  config.training.steps = 40;
  TrainingState state({config});
  const std::vector<MeasuredStep> steps = train_to(state, 40);
  EXPECT_LT(steps.back().result.loss[0], steps.front().result.loss[0] - 1);
  for (const MeasuredStep& step : steps) {
    EXPECT_EQ(step.result.validation_loss.size(), step.step % 8 == 0 ? 1U : 0U) << step.step;
  }
  EXPECT_NEAR(steps.back().result.validation_loss.at(0), steps.back().result.loss[0], 1);
}

TEST(TextTraining, GoesOnWithTheSameBits) {
  TrainingState whole({text_config()});
  train_to(whole, 12);
  TrainingState begun({text_config()});
  train_to(begun, 5);
  TrainingState resumed({text_config()});
  resumed.model->parameters().values().copy_(begun.model->parameters().values());
  resumed.adam.first_moment.copy_(begun.adam.first_moment);
  resumed.adam.second_moment.copy_(begun.adam.second_moment);
  resumed.step = begun.step;
  train_to(resumed, 12);
  EXPECT_TRUE(at::equal(whole.model->parameters().values(), resumed.model->parameters().values()));
}

// The model memorizes what it is trained on over and over.
TEST(TextTraining, LearnsAWindowByHeart) {
  RunConfig config = text_config();
  config.training.batch_size = 1;
  config.training.weight_decay = 0;
  TrainingState state({config});
  SequenceBatch batch;
  state.workload->training_batch(0, batch);
  const Positions positions;
  const Pass pass{.positions = positions, .dropout = {.seeds = {0}}};
  double loss = 0;
  for (std::int64_t step = 0; step < 300; ++step) {
    loss = read_result(training_step(*state.model, state.adam, to_tensors(batch, 0, 1, at::kCPU), pass, step))
               .loss[0];
  }
  EXPECT_LT(loss, 0.05);
}

// The row's loss is the mean over the windows of the mean cross entropy of their last predictions.
TEST(TextEvaluation, CountsTheLastPredictions) {
  const RunConfig config = text_config();
  TrainingState state({config});
  train_to(state, 12);
  for (const std::int64_t length : {24, 48, 96}) {
    const auto result = evaluate_length(*state.model, {config}, length, kNeverStop);
    ASSERT_TRUE(result);
    SequenceBatch batch;
    state.workload->evaluation_batch(length, 0, 64, batch);
    const TensorBatch tensors = to_tensors(batch, 0, 64, at::kCPU);
    const Positions positions;
    const at::Tensor all =
        state.model->forward(tensors.tokens, length, {.positions = positions, .dropout = {.seeds = {0}}});
    const at::Tensor last = at::log_softmax(all[0].slice(1, length - 16), -1);  // (64, 16, 257)
    const double expected = -last.gather(2, tensors.targets.unsqueeze(2)).mean().item<double>();
    EXPECT_NEAR(result->rows[0].loss, expected, 1e-5) << length;
    const std::vector<WindowLoss>& windows = result->rows[0].windows;
    ASSERT_EQ(windows.size(), 64U);
    EXPECT_EQ(windows[7].window, batch.windows[7]);
    const double of_window = -last[7].gather(1, tensors.targets[7].unsqueeze(1)).mean().item<double>();
    EXPECT_NEAR(windows[7].loss, of_window, 1e-5);
    EXPECT_EQ(result->rows[0].encoding_settings.at("last"), "16");
    EXPECT_EQ(result->rows[0].encoding_settings.at("longest"), "96");
  }
}

TEST(TextEvaluation, KeepsTheLossAtEachPositionOfTheLongestLength) {
  RunConfig config = text_config();
  config.evaluation.samples = 128;
  TrainingState state({config});
  train_to(state, 12);
  const EvaluationRow plain = evaluate_length(*state.model, {config}, 96, kNeverStop)->rows[0];
  config.evaluation.text.curve = true;
  const EvaluationRow row = evaluate_length(*state.model, {config}, 96, kNeverStop, {.curve = true})->rows[0];
  EXPECT_EQ(row.accuracy, plain.accuracy) << "the same predictions count";
  EXPECT_EQ(row.loss, plain.loss);
  ASSERT_EQ(row.windows.size(), plain.windows.size());
  EXPECT_EQ(row.windows[77].loss, plain.windows[77].loss);
  config.execution.memory_gib = 0.001;
  const EvaluationRow parts =
      evaluate_length(*state.model, {config}, 96, kNeverStop, {.curve = true})->rows[0];
  EXPECT_EQ(parts.loss, plain.loss) << "however its batches are split";

  ASSERT_EQ(row.positions.size(), 6U);
  SequenceBatch batch;
  state.workload->evaluation_batch(96, 0, 128, batch);
  const TensorBatch tensors = to_tensors(batch, 0, 128, at::kCPU);
  const Positions positions;
  const at::Tensor logits =
      state.model->forward(tensors.tokens, 96, {.positions = positions, .dropout = {.seeds = {0}}});
  const at::Tensor targets = at::cat({tensors.tokens.slice(1, 1), tensors.targets.slice(1, -1)}, 1);
  const at::Tensor losses = -at::log_softmax(logits[0], -1).gather(2, targets.unsqueeze(2));  // (128, 96, 1)
  for (std::int64_t bin = 0; bin < 6; ++bin) {
    const PositionLoss& found = row.positions[static_cast<std::size_t>(bin)];
    EXPECT_EQ(found.first, 16 * bin);
    EXPECT_EQ(found.count, 16);
    EXPECT_NEAR(found.loss, losses.slice(1, 16 * bin, 16 * bin + 16).mean().item<double>(), 1e-5) << bin;
  }
  EXPECT_NEAR(row.positions.back().loss, row.loss, 1e-6) << "its 16 positions are those that count";

  EXPECT_TRUE(
      evaluate_length(*state.model, {config}, 48, kNeverStop, {.curve = true})->rows[0].positions.empty());
  EXPECT_TRUE(evaluate_length(*state.model, {config}, 96, kNeverStop)->rows[0].positions.empty());
}

// The losses of windows take memory, too.
TEST(TextEvaluation, StaysWithinTheMemoryBudget) {
  RunConfig config = text_config();
  config.evaluation.text.last = 96;
  const TrainingState state({config});
  SequenceBatch batch;
  state.workload->evaluation_batch(96, 0, 64, batch);
  const Positions positions;
  const Pass pass{.positions = positions, .dropout = {.seeds = {0}}, .is_evaluation = true};
  const auto bytes = [&](std::int64_t examples) {
    return peak_tensor_bytes([&] { predict_rows(*state.model, batch, 0, examples, pass, {.losses = true}); });
  };
  const std::int64_t budget = bytes(20) - 1;
  const std::int64_t examples =
      examples_within(static_cast<double>(budget) * 0x1p-30, *state.model, batch, pass, {.losses = true});
  EXPECT_GE(examples, 18);
  EXPECT_LE(bytes(examples), budget);
}

TEST(TextEvaluation, IsTimedWithTheOutputsOfItsProtocol) {
  const auto bytes = [](std::int64_t last, double memory_gib = 1) {
    RunConfig config = text_config();
    config.evaluation.text.last = last;
    config.execution.memory_gib = memory_gib;
    return peak_tensor_bytes([&] {
      measure_step(config, 96, {.evaluate = true, .steps = 1, .warm_up = 0}, backend_of(config.execution));
    });
  };
  EXPECT_LT(bytes(16), bytes(96));
  EXPECT_LT(bytes(96, 1e-4), bytes(96)) << "examples that an evaluation takes at once";
}

}  // namespace
}  // namespace che
