#include "experiments/cost_estimate.h"

#include <algorithm>

#include "experiments/step_benchmark.h"
#include "experiments/thread_limit.h"

namespace che {
namespace {

// What a measured step may compute: enough to hide the cost of starting operations, little enough to wait
// for.
constexpr double kMeasuredOperations = 1e10;

// Nominal operations a second where an example takes `operations`.
double speed_at(const RunConfig& config, std::int64_t length, bool evaluate, double operations) {
  const auto examples = static_cast<std::int64_t>(std::max(1.0, kMeasuredOperations / operations));
  const StepCost cost =
      measure_step(config, length, {.evaluate = evaluate, .steps = 3, .most_examples = examples});
  return cost.operations / cost.seconds;
}

}  // namespace

CostEstimate::Speed CostEstimate::measure(const RunConfig& config) {
  const ThreadLimit limit(config.execution.threads);
  RunConfig middle = config;
  TrainingConfig& training = middle.training;
  training.first_length = training.last_length = (training.first_length + training.last_length) / 2;
  EvaluationConfig& evaluation = middle.evaluation;
  evaluation.first_length = evaluation.last_length = (evaluation.first_length + evaluation.last_length) / 2;
  evaluation.samples = 1;
  const double step_operations = training_step_operations(middle);
  return {.training = speed_at(middle, training.last_length, false,
                               step_operations / static_cast<double>(training.batch_size)),
          .evaluation = speed_at(middle, evaluation.last_length, true, run_operations(middle).evaluation)};
}

double CostEstimate::seconds(const RunConfig& config, const Operations& work) {
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
  return work.training / speed->second.training + work.evaluation / speed->second.evaluation;
}

}  // namespace che
