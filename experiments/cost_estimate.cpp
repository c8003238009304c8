#include "experiments/cost_estimate.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>

#include "experiments/model_of_run.h"
#include "experiments/operations.h"
#include "experiments/thread_limit.h"
#include "experiments/training.h"
#include "tasks/task.h"

namespace che {
namespace {

using Clock = std::chrono::steady_clock;

// What a measurement may compute: enough to hide the cost of starting operations, little enough to wait for.
constexpr double kMeasuredOperations = 1e10;
constexpr int kRepetitions = 3;  // The first warms up.

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Examples of which a pass takes about kMeasuredOperations, at most `most`.
std::int64_t measured_examples(double operations_per_example, std::int64_t most) {
  return static_cast<std::int64_t>(
      std::clamp(kMeasuredOperations / operations_per_example, 1.0, static_cast<double>(most)));
}

// Operations a second of a training step at the middle length.
double training_speed(RunConfig config, TrainingState& state) {
  TrainingConfig& training = config.training;
  training.first_length = training.last_length = (training.first_length + training.last_length) / 2;
  training.batch_size = measured_examples(
      training_step_operations(config) / static_cast<double>(training.batch_size), training.batch_size);
  training.steps = kRepetitions;
  state.runs = {config};
  double fastest = 1e9;
  Clock::time_point start = Clock::now();
  train(state, [&](std::int64_t, const StepResult&) {
    if (state.step > 1) fastest = std::min(fastest, seconds_since(start));
    start = Clock::now();
    return true;
  });
  return training_step_operations(config) / fastest;
}

// Operations a second of a forward pass at the middle test length.
double evaluation_speed(RunConfig config, const Transformer& model) {
  const c10::NoGradGuard no_grad;
  EvaluationConfig& evaluation = config.evaluation;
  evaluation.first_length = evaluation.last_length = (evaluation.first_length + evaluation.last_length) / 2;
  evaluation.samples = 1;
  const double operations = evaluation_operations(config);
  const std::int64_t examples = measured_examples(operations, kEvaluationBatch);
  const auto step = static_cast<std::uint64_t>(evaluation.first_length);
  Batch batch;
  sample_batch(*create_task(config.task.name, config.task.options), config.task.name,
               {.seed = 0, .purpose = Purpose::kEvaluation, .step = step, .first_example = 0},
               evaluation.first_length, examples, batch);
  const TensorBatch tensors =
      to_tensors(batch, 0, examples, model.vocabulary().inputs, tensor_options(config.execution).device());
  const auto positions = create_positions(config, 0, Purpose::kEvaluationPositions, step);
  double fastest = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const Clock::time_point start = Clock::now();
    model.forward(tensors.tokens, tensors.outputs(), *positions, Dropout{});
    fastest = std::min(fastest, seconds_since(start));
  }
  return static_cast<double>(examples) * operations / fastest;
}

}  // namespace

CostEstimate::Speed CostEstimate::measure(const RunConfig& config) {
  const ThreadLimit limit(config.execution.threads);
  TrainingState state({config});
  Speed speed;
  speed.training = training_speed(config, state);
  state.model->project();
  speed.evaluation = evaluation_speed(config, *state.model);
  return speed;
}

double CostEstimate::seconds(const RunConfig& config) {
  RunConfig key = config;
  key.task = {};
  key.seed = key.data_seed = 0;
  key.learning_rate = RunConfig{}.learning_rate;
  // Speed depends on the lengths: at short ones the cost of starting operations tells.
  key.training = {.batch_size = config.training.batch_size,
                  .first_length = config.training.first_length,
                  .last_length = config.training.last_length};
  key.evaluation = {.first_length = config.evaluation.first_length,
                    .last_length = config.evaluation.last_length};
  const auto [speed, is_new] = speeds_.try_emplace(to_yaml(key));
  if (is_new) speed->second = measure(config);
  const double evaluation = evaluation_operations(config);
  return (run_operations(config) - evaluation) / speed->second.training +
         evaluation / speed->second.evaluation;
}

}  // namespace che
