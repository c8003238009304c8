#include "experiments/model_of_run.h"

#include <fmt/core.h>

#include "core/error.h"
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

std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config) {
  return create_encoding(config.name, config.options, config.dape);
}

Vocabulary vocabulary_of(const TaskConfig& task) {
  const auto created = create_task(task.name, task.options);
  return {static_cast<std::int64_t>(created->input_symbols().size()),
          static_cast<std::int64_t>(created->output_symbols().size())};
}

at::TensorOptions tensor_options(const ExecutionConfig& execution) {
  if (execution.device != "cpu") {
    throw Error(fmt::format("execution.device: this build has no '{}'; allowed: cpu", execution.device));
  }
  return at::TensorOptions().dtype(at::kFloat).device(at::kCPU);
}

std::int64_t parameter_count(const RunConfig& config) {
  return parameter_count(
      transformer_parameters(config.model, vocabulary_of(config.task), *create_encoding(config.encoding)));
}

std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas) {
  return std::make_unique<Transformer>(
      config.model, vocabulary_of(config.task), create_encoding(config.encoding), replicas,
      tensor_options(config.execution), kernels_named(config.execution.kernels));
}

std::unique_ptr<Positions> create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose,
                                            std::uint64_t step, std::uint64_t batch) {
  if (config.encoding.positions == "contiguous") return std::make_unique<ContiguousPositions>();
  return std::make_unique<RandomizedPositions>(config.encoding.max_position,
                                               keyed_seed(static_cast<std::uint64_t>(seed), config.task.name),
                                               purpose, step, batch);
}

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

}  // namespace che
