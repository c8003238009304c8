#include "experiments/training/cost_estimate.h"

#include <algorithm>

#include "experiments/training/model_factory.h"
#include "experiments/training/step_benchmark.h"
#include "experiments/training/thread_limit.h"

namespace che {
namespace {

// What a measured step may compute: enough to hide the cost of starting operations, little enough to wait
// for.
constexpr double kMeasuredOperations = 1e10;

// Steps that are timed of each.
constexpr std::int64_t kMeasuredSteps = 5;

// Seconds per nominal operation where an example takes `operations`. A GPU computes whole batches: a part of
// one would not keep it busy.
TimeRange seconds_per_operation(const RunConfig& config, std::int64_t length, bool evaluate,
                                double operations, const Backend& backend) {
  const double of_an_example = operations * static_cast<double>(config.execution.replicas);
  const auto examples = static_cast<std::int64_t>(std::max(1.0, kMeasuredOperations / of_an_example));
  const StepCost cost = measure_step(config, length,
                                     {.evaluate = evaluate,
                                      .steps = kMeasuredSteps,
                                      .most_examples = backend.device().is_cpu() ? examples : 0},
                                     backend);
  return {.min = cost.fastest / cost.operations,
          .max = cost.slowest / cost.operations,
          .middle = cost.seconds / cost.operations};
}

}  // namespace

CostEstimate::Speed CostEstimate::measure(const RunConfig& config) const {
  const Backend backend = backend_ ? *backend_ : backend_of(config.execution);
  const ThreadLimit limit(config.execution.threads);
  RunConfig middle = config;
  TrainingConfig& training = middle.training;
  training.first_length = training.last_length = (training.first_length + training.last_length) / 2;
  EvaluationConfig& evaluation = middle.evaluation;
  evaluation.first_length = evaluation.last_length = (evaluation.first_length + evaluation.last_length) / 2;
  evaluation.samples = 1;
  const double step_operations = training_step_operations(middle);
  return {
      .training = seconds_per_operation(middle, training.last_length, false,
                                        step_operations / static_cast<double>(training.batch_size), backend),
      .evaluation = seconds_per_operation(middle, evaluation.last_length, true,
                                          run_operations(middle).evaluation, backend)};
}

TimeRange CostEstimate::seconds(const RunConfig& config, const Operations& work) {
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
  const std::string text = to_yaml(key);
  auto speed = speeds_.find(text);
  if (speed == speeds_.end()) speed = speeds_.emplace(text, measure(config)).first;  // Which may throw.
  TimeRange total = work.training * speed->second.training;
  total += work.evaluation * speed->second.evaluation;
  return total;
}

}  // namespace che
