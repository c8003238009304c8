#include "experiments/training/training.h"

#include <ATen/ATen.h>

#include "experiments/training/batch_stream.h"
#include "experiments/training/model_factory.h"
#include "models/loss.h"

namespace che {
namespace {

// What a step tells of each replica, (replicas) each, in one copy to the host, for which it waits.
StepResult read_result(const at::Tensor& loss, const at::Tensor& accuracy, const at::Tensor& gradient_norm) {
  const at::Tensor all =
      at::stack({loss.detach().to(at::kDouble), accuracy.to(at::kDouble), gradient_norm.to(at::kDouble)})
          .to(at::kCPU);
  const auto row = [&](std::int64_t i) {
    const double* const values = all.const_data_ptr<double>() + i * all.size(1);
    return std::vector<double>(values, values + all.size(1));
  };
  return {.loss = row(0), .accuracy = row(1), .gradient_norm = row(2)};
}

std::vector<double> learning_rates(const std::vector<RunConfig>& runs) {
  std::vector<double> rates;
  for (const RunConfig& run : runs) rates.push_back(run.learning_rate);
  return rates;
}

}  // namespace

double rate_fraction(const TrainingConfig& training, std::int64_t step) {
  if (step >= training.warmup_steps) return 1;
  return static_cast<double>(step + 1) / static_cast<double>(training.warmup_steps);
}

StepResult training_step(Transformer& model, Adam& adam, const TensorBatch& batch, const Positions& positions,
                         const Dropout& dropout, std::int64_t step, double rate_fraction) {
  model.project();
  const at::Tensor logits = model.forward(batch.tokens, batch.outputs(), positions, dropout);
  const BatchScore score = score_batch(logits, batch.targets, batch.mask);
  // A replica's loss reaches its own parameters only, so that the sum gives each its own gradient.
  score.loss.sum().backward();
  model.parameters().collect_gradients();
  const at::Tensor norms = adam.update(model.parameters(), step, rate_fraction);
  return read_result(score.loss, score.correct / batch.mask.sum(at::kDouble), norms);
}

TrainingState::TrainingState(std::vector<RunConfig> replicas)
    : runs(std::move(replicas)),
      model(create_transformer(runs.front(), static_cast<std::int64_t>(runs.size()))),
      adam(model->parameters(), learning_rates(runs), runs.front().training.clip_norm, model->backend()) {
  model->parameters().initialise(seeds());
}

std::vector<std::int64_t> TrainingState::seeds() const {
  std::vector<std::int64_t> seeds;
  for (const RunConfig& run : runs) seeds.push_back(run.seed);
  return seeds;
}

void train(TrainingState& state, const AfterStep& after_step) {
  const RunConfig& config = state.runs.front();
  const at::Device device = state.model->backend().device();
  const std::int64_t empty_symbol = state.model->vocabulary().empty_symbol();
  BatchStream batches(config, state.step);
  bool go_on = true;
  while (go_on && state.step < config.training.steps) {
    const Batch& batch = batches.next();
    const auto step = static_cast<std::uint64_t>(state.step);
    const auto positions = create_positions(config, config.data_seed, Purpose::kPositions, step);
    const Dropout dropout{config.training.dropout, state.seeds(), Purpose::kDropout, step};
    const TensorBatch tensors = to_tensors(batch, 0, batch.size, empty_symbol, device);
    const StepResult result = training_step(*state.model, state.adam, tensors, *positions, dropout,
                                            state.step, rate_fraction(config.training, state.step));
    ++state.step;
    go_on = after_step(batch.length, result);
  }
}

}  // namespace che
