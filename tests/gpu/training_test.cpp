// Trainings and evaluations on a device that is not the CPU: when the host waits, and that stopping changes
// nothing.
#include "experiments/learn/training.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "experiments/learn/evaluation.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

RunConfig short_training() {
  RunConfig config = small_config("alibi");
  config.training = {.steps = 150, .batch_size = 2, .first_length = 2, .last_length = 3};
  config.log.every_steps = 70;
  config.execution.graphs = false;  // step_graphs_test.cpp is for graphs.
  return config;
}

TEST(TrainingOnADevice, WaitsAtTheEndOfARowOfMetricsAndAfter64Steps) {
  TrainingState state({short_training()}, backend_on(fake_device(), Kernels::kReference));
  std::vector<std::int64_t> steps;
  std::vector<std::size_t> told_together;
  reset_device_counts();
  train(state, [&](std::span<const MeasuredStep> made) {
    for (const MeasuredStep& one : made) steps.push_back(one.step);
    told_together.push_back(made.size());
    EXPECT_EQ(state.step, made.back().step) << "none is outstanding";
    return true;
  });
  std::vector<std::int64_t> all(150);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(all, steps);
  // A slow machine tells of steps after a second.
  EXPECT_GE(told_together.size(), 5U);
  EXPECT_LE(told_together.front(), 64U);
  EXPECT_EQ(static_cast<std::int64_t>(told_together.size()), device_counts().to_host);
}

TEST(TrainingOnADevice, MeasuresWhatTheCpuMeasures) {
  const auto losses = [](const at::Device& device) {
    TrainingState state({short_training()}, backend_on(device, Kernels::kReference));
    std::vector<double> all;
    train(state, [&](std::span<const MeasuredStep> made) {
      for (const MeasuredStep& one : made) all.push_back(one.result.loss[0]);
      return true;
    });
    return all;
  };
  const std::vector<double> expected = losses(at::kCPU);
  const std::vector<double> found = losses(fake_device());
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], found[i], 1e-4) << i;
}

// Stopped after some steps and trained on: the parameters and the results of an uninterrupted training.
TEST(TrainingOnADevice, GoesOnAfterAStop) {
  const auto trained = [](bool stops) {
    TrainingState state({short_training()}, backend_on(fake_device(), Kernels::kFused));
    std::vector<double> losses;
    const auto take = [&](std::span<const MeasuredStep> made) {
      for (const MeasuredStep& one : made) losses.push_back(one.result.loss[0]);
      return !stops;
    };
    while (state.step < state.runs.front().training.steps) train(state, take);
    return std::pair(losses, state.model->parameters().values().detach().to(at::kCPU));
  };
  const auto [losses, values] = trained(false);
  const auto [losses_of_parts, values_of_parts] = trained(true);
  EXPECT_EQ(losses, losses_of_parts);
  EXPECT_EQ("", difference(values_of_parts, values, 0));
}

// The step at which a loss is no number is known though later ones were made.
TEST(TrainingOnADevice, TellsAtWhichStepALossIsNoNumber) {
  const auto first_without_number = [](const at::Device& device) {
    RunConfig config = short_training();
    config.learning_rate = 10;
    config.training.clip_norm = 1e9;
    TrainingState state({config}, backend_on(device, Kernels::kReference));
    state.model->parameters().values().mul_(1e18);
    std::int64_t first = 0;
    train(state, [&](std::span<const MeasuredStep> made) {
      for (const MeasuredStep& one : made) {
        if (first == 0 && !std::isfinite(one.result.loss[0])) first = one.step;
      }
      return first == 0;
    });
    return first;
  };
  const std::int64_t expected = first_without_number(at::kCPU);
  EXPECT_GT(expected, 0);
  EXPECT_EQ(expected, first_without_number(fake_device()));
}

TEST(EvaluatingOnADevice, WaitsOnceALength) {
  const RunConfig config = short_training();
  TrainingState state({config}, backend_on(fake_device(), Kernels::kFused));
  TrainingState on_cpu({config}, backend_on(at::kCPU, Kernels::kFused));
  reset_device_counts();
  const std::atomic<int> stop{0};
  const auto found = evaluate_length(*state.model, {config}, 5, stop);
  EXPECT_EQ(1, device_counts().to_host);
  EXPECT_EQ(0, device_counts().scalars);
  const auto expected = evaluate_length(*on_cpu.model, {config}, 5, stop);
  EXPECT_EQ(expected->rows.front().accuracy, found->rows.front().accuracy);
  EXPECT_NEAR(expected->rows.front().loss, found->rows.front().loss, 1e-6);
}

}  // namespace
}  // namespace che
