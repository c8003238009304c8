#include "experiments/training/model_factory.h"

#include <fmt/core.h>

#include "core/error.h"
#include "tasks/task.h"

namespace che {
namespace {

std::unique_ptr<Encoding> encoding_of(const RunConfig& config) {
  return create_encoding(config.encoding, {.count = config.longest_training_sequence()});
}

}  // namespace

std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config, TrainedTokens trained) {
  return create_encoding(config.name, config.options, config.dape, trained);
}

Vocabulary vocabulary_of(const TaskConfig& task) {
  const auto created = create_task(task);
  return {static_cast<std::int64_t>(created->input_symbols().size()),
          static_cast<std::int64_t>(created->output_symbols().size())};
}

Backend backend_of(const ExecutionConfig& execution) {
  if (execution.device != "cpu") {
    throw Error(fmt::format("execution.device: this build has no '{}'; allowed: cpu", execution.device));
  }
  return {kernels_named(execution.kernels), at::TensorOptions().dtype(at::kFloat).device(at::kCPU)};
}

std::int64_t parameter_count(const RunConfig& config) {
  return parameter_count(
      transformer_parameters(config.model, vocabulary_of(config.task), *encoding_of(config)));
}

std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas) {
  return std::make_unique<Transformer>(config.model, vocabulary_of(config.task), encoding_of(config),
                                       replicas, backend_of(config.execution));
}

std::unique_ptr<Positions> create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose,
                                            std::uint64_t step, std::uint64_t batch) {
  if (config.encoding.positions == "contiguous") return std::make_unique<ContiguousPositions>();
  // The name of a registered task is its key.
  const std::string& stream_key = config.task.is_declared() ? config.task.definition : config.task.name;
  return std::make_unique<RandomizedPositions>(config.encoding.max_position,
                                               keyed_seed(static_cast<std::uint64_t>(seed), stream_key),
                                               purpose, step, batch);
}

}  // namespace che
