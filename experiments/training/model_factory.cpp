#include "experiments/training/model_factory.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/resources.h"
#include "models/ops/device/cuda_library.h"
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

ComputingDevice open_device(const ExecutionConfig& execution) {
  const DeviceChoice choice = device_choice(execution.device);
  const std::vector<std::string> visible = available_resources().gpus;
  if (!choice.is_gpu(visible)) return {at::kCPU, "cpu"};
  const std::vector<std::int64_t> allowed = gpus_of(execution, visible);
  // A worker sees the one GPU that it was given, whatever its place was among all.
  const bool is_given = visible.size() == 1 && !choice.number;
  const std::shared_ptr<Gpu> gpu =
      open_cuda_gpu(allowed.empty() || is_given ? 0 : allowed.front(),
                    execution.precision == "tf32" ? GpuPrecision::kTf32 : GpuPrecision::kFp32);
  return {gpu->device,
          fmt::format("cuda ({}, {}{})", gpu->description.name, execution.precision,
                      execution.graphs ? ", graphs" : ""),
          gpu};
}

Backend backend_of(const ExecutionConfig& execution) {
  const ComputingDevice opened = open_device(execution);
  return {kernels_named(execution.kernels), at::TensorOptions().dtype(at::kFloat).device(opened.device),
          opened.gpu};
}

std::int64_t parameter_count(const RunConfig& config) {
  return parameter_count(
      transformer_parameters(config.model, vocabulary_of(config.task), *encoding_of(config)));
}

std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas) {
  return create_transformer(config, replicas, backend_of(config.execution));
}

std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas,
                                                const Backend& backend) {
  return std::make_unique<Transformer>(config.model, vocabulary_of(config.task), encoding_of(config),
                                       replicas, backend);
}

Positions create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose, std::uint64_t step,
                           std::uint64_t batch) {
  if (!config.encoding.is_randomized()) return {};
  // The name of a registered task is its key.
  const std::string& stream_key = config.task.is_declared() ? config.task.definition : config.task.name;
  return Positions::randomized(config.encoding.max_position,
                               keyed_seed(static_cast<std::uint64_t>(seed), stream_key), purpose, step,
                               batch);
}

}  // namespace che
