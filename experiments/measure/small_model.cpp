#include "experiments/measure/small_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"

namespace che {
namespace {

constexpr std::int64_t kReplicas = 2;
constexpr std::int64_t kLength = 6;
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kDataSeed = 5;

RunConfig config_of(const NamedEncoding& encoding, std::int64_t width) {
  RunConfig config;
  config.task.reset("reverse_string");
  config.evaluation.seed = 3;
  config.model.kind = encoding.model;
  config.encoding = encoding.config;
  config.encoding.max_position = 256;
  if (config.encoding.dape) config.encoding.dape->hidden = 8;
  config.model.shape() = {
      .width = width, .layers = 2, .heads = 2, .ffn_multiple = 2, .block = encoding.block};
  return config;
}

SequenceBatch batch_of(const RunConfig& config) {
  SequenceBatch batch;
  create_workload(config)->evaluation_batch(kLength, 0, kBatch, batch);
  return batch;
}

}  // namespace

SmallModel::SmallModel(const NamedEncoding& encoding, const Backend& backend, std::int64_t width)
    : config_(config_of(encoding, width)),
      batch_(batch_of(config_)),
      model_(create_model(config_, kReplicas, backend)),
      adam_(model_->parameters(), {1e-2, 1e-3}, {.clip_norm = 1}, backend) {
  model_->parameters().initialise(std::vector<std::int64_t>{1, 2});
}

void SmallModel::use_graphs() { graphs_ = std::make_unique<StepGraphs>(*model_, adam_); }

at::Tensor SmallModel::train(std::int64_t step) {
  const auto number = static_cast<std::uint64_t>(step);
  const auto positions = create_positions(config_, kDataSeed, Purpose::kPositions, number);
  const Pass pass{.positions = positions,
                  .dropout = {.rate = 0.1, .seeds = {1, 2}, .purpose = Purpose::kDropout, .step = number}};
  if (graphs_ != nullptr) return graphs_->step(batch_, pass, step);
  return training_step(*model_, adam_, to_tensors(batch_, 0, kBatch, model_->backend().device()), pass, step);
}

std::vector<at::Tensor> SmallModel::parameter_gradients() const {
  std::vector<at::Tensor> parts;
  std::int64_t first = 0;
  for (const ParameterSpec& spec : model_->parameters().specs()) {
    const std::int64_t count = parameter_count({spec});
    parts.push_back(gradients().narrow(1, first, count));
    first += count;
  }
  return parts;
}

void SmallModel::update_with(const at::Tensor& gradients, std::int64_t step) {
  const c10::NoGradGuard no_grad;
  model_->parameters().gradients().copy_(gradients);
  adam_.update(model_->parameters(), step);
}

at::Tensor SmallModel::logits() {
  const c10::NoGradGuard no_grad;
  model_->project();
  const auto positions = create_positions(config_, kDataSeed, Purpose::kEvaluationPositions, kLength);
  const TensorBatch batch = to_tensors(batch_, 0, kBatch, model_->backend().device());
  return model_->forward(batch.tokens, batch.outputs(), {.positions = positions});
}

void SmallModel::take_values(const SmallModel& other) {
  const c10::NoGradGuard no_grad;
  model_->parameters().values().copy_(other.values());
}

}  // namespace che
