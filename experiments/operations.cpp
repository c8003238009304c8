#include "experiments/operations.h"

#include "tasks/task.h"

namespace che {
namespace {

// Nominal operations of a forward pass over one example of each length `first` .. `last`, summed.
double forward_operations(const RunConfig& config, std::int64_t first, std::int64_t last, std::int64_t step) {
  const auto task = create_task(config.task.name, config.task.options);
  const auto d = static_cast<double>(config.model.width);
  const double dape_width = config.encoding.dape
                                ? static_cast<double>(config.model.heads * config.encoding.dape->hidden *
                                                      config.encoding.dape->taps())
                                : 0;
  double sum = 0;
  for (std::int64_t length = first; length <= last; length += step) {
    const auto t = static_cast<double>(task->input_length(length) + task->output_length(length));
    sum +=
        static_cast<double>(config.model.layers) * (24 * t * d * d + 4 * t * t * d + 6 * t * t * dape_width);
  }
  return sum;
}

}  // namespace

double training_step_operations(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  const auto lengths = static_cast<double>(training.last_length - training.first_length + 1);
  return 3 * static_cast<double>(training.batch_size) / lengths *
         forward_operations(config, training.first_length, training.last_length, 1);
}

double evaluation_operations(const RunConfig& config) {
  const EvaluationConfig& evaluation = config.evaluation;
  return static_cast<double>(evaluation.samples) *
         forward_operations(config, evaluation.first_length, evaluation.last_length, evaluation.length_step);
}

double run_operations(const RunConfig& config) {
  return static_cast<double>(config.training.steps) * training_step_operations(config) +
         evaluation_operations(config);
}

}  // namespace che
