#include "experiments/training/small_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <vector>

#include "experiments/training/model_factory.h"
#include "experiments/training/tensor_batch.h"
#include "experiments/training/training.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr std::int64_t kReplicas = 2;
constexpr std::int64_t kLength = 6;
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kDataSeed = 5;

RunConfig config_of(const EncodingConfig& encoding, std::int64_t width) {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding = encoding;
  config.encoding.max_position = 256;
  if (config.encoding.dape) config.encoding.dape->hidden = 8;
  config.model = {.width = width, .layers = 2, .heads = 2, .ffn_multiple = 2};
  return config;
}

Batch batch_for(const RunConfig& config) {
  const auto task = create_task(config.task);
  Batch samples;
  sample_batch(*task, evaluation_key(3, kLength, 0), kLength, kBatch, samples);
  return samples;
}

TensorBatch tensors_for(const Batch& batch, const Transformer& model) {
  return to_tensors(batch, 0, kBatch, model.vocabulary().empty_symbol(), model.backend().device());
}

}  // namespace

SmallModel::SmallModel(const EncodingConfig& encoding, const Backend& backend, std::int64_t width)
    : config_(config_of(encoding, width)),
      model_(config_.model, vocabulary_of(config_.task),
             create_encoding(config_.encoding, {.count = config_.longest_training_sequence()}), kReplicas,
             backend),
      adam_(model_.parameters(), {1e-2, 1e-3}, 1, backend) {
  model_.parameters().initialise(std::vector<std::int64_t>{1, 2});
}

void SmallModel::use_graphs() { graphs_ = std::make_unique<StepGraphs>(model_, adam_); }

at::Tensor SmallModel::train(std::int64_t step) {
  const auto number = static_cast<std::uint64_t>(step);
  const auto positions = create_positions(config_, kDataSeed, Purpose::kPositions, number);
  const Dropout dropout{.rate = 0.1, .seeds = {1, 2}, .purpose = Purpose::kDropout, .step = number};
  const Batch batch = batch_for(config_);
  if (graphs_ != nullptr) return graphs_->step(batch, positions, dropout, step);
  return training_step(model_, adam_, tensors_for(batch, model_), positions, dropout, step);
}

std::vector<at::Tensor> SmallModel::parameter_gradients() const {
  std::vector<at::Tensor> parts;
  std::int64_t first = 0;
  for (const ParameterSpec& spec : model_.parameters().specs()) {
    const std::int64_t count = parameter_count({spec});
    parts.push_back(gradients().narrow(1, first, count));
    first += count;
  }
  return parts;
}

void SmallModel::update_with(const at::Tensor& gradients, std::int64_t step) {
  const c10::NoGradGuard no_grad;
  model_.parameters().gradients().copy_(gradients);
  adam_.update(model_.parameters(), step);
}

at::Tensor SmallModel::logits() {
  const c10::NoGradGuard no_grad;
  model_.project();
  const auto positions = create_positions(config_, kDataSeed, Purpose::kEvaluationPositions, kLength);
  const TensorBatch tensors = tensors_for(batch_for(config_), model_);
  return model_.forward(tensors.tokens, tensors.outputs(), positions, {});
}

void SmallModel::take_values(const SmallModel& other) {
  const c10::NoGradGuard no_grad;
  model_.parameters().values().copy_(other.values());
}

}  // namespace che
