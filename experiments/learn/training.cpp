#include "experiments/learn/training.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/clock.h"
#include "experiments/learn/batches.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"

namespace che {
namespace {

std::vector<double> learning_rates(const std::vector<RunConfig>& runs) {
  std::vector<double> rates;
  rates.reserve(runs.size());
  for (const RunConfig& run : runs) rates.push_back(run.learning_rate);
  return rates;
}

AdamOptions adam_options(const TrainingConfig& training) {
  return {.clip_norm = training.clip_norm, .beta2 = training.beta2, .weight_decay = training.weight_decay};
}

// The loss of each replica on the workload's validation examples; nothing where it has none.
std::vector<double> validation_loss(const TrainingState& state) {
  const RunConfig& config = state.runs.front();
  SequenceBatch batch;
  if (!state.workload->validation_batch(batch)) return {};
  const c10::NoGradGuard no_grad;
  state.model->project();
  const auto positions = create_positions(config, config.data_seed, Purpose::kEvaluationPositions, 0);
  const Pass pass{.positions = positions, .dropout = {.seeds = state.seeds()}, .is_evaluation = true};
  const at::Tensor loss =
      predict_rows(*state.model, batch, 0, batch.size, pass).score.loss.to(at::kCPU, at::kDouble);
  return {loss.const_data_ptr<double>(), loss.const_data_ptr<double>() + loss.numel()};
}

// Steps whose results the host has not read yet.
class UnreadSteps {
 public:
  explicit UnreadSteps(const at::Device& device) : most_(device.is_cpu() ? 1 : kMostOnADevice) {}

  void add(std::int64_t step, std::int64_t length, at::Tensor measured) {
    steps_.push_back({.step = step, .length = length, .seconds = 0, .result = {}});
    results_.push_back(std::move(measured));
  }

  bool are_due() const { return steps_.size() >= most_ || seconds_since(start_) > kMostSeconds; }

  // Reads them in one copy.
  std::vector<MeasuredStep> take() {
    const at::Tensor results = at::stack(results_).to(at::kCPU);
    const double seconds = seconds_since(start_) / static_cast<double>(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].seconds = seconds;
      steps_[i].result = read_result(results[static_cast<std::int64_t>(i)]);
    }
    results_.clear();
    restart_clock();
    return std::exchange(steps_, {});
  }

  // The next step's time leaves out what was done since take().
  void restart_clock() { start_ = Clock::now(); }

 private:
  static constexpr std::size_t kMostOnADevice = 64;
  static constexpr double kMostSeconds = 1;

  std::size_t most_;
  std::vector<MeasuredStep> steps_;
  std::vector<at::Tensor> results_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

StepResult read_result(const at::Tensor& measured) {
  const at::Tensor all = measured.to(at::kCPU);
  const auto row = [&](std::int64_t i) {
    const double* const values = all.const_data_ptr<double>() + i * all.size(1);
    return std::vector<double>(values, values + all.size(1));
  };
  return {.loss = row(0), .accuracy = row(1), .gradient_norm = row(2)};
}

double rate_fraction(const TrainingConfig& training, std::int64_t step) {
  const auto update = static_cast<double>(step + 1);
  const auto warmup = static_cast<double>(training.warmup());
  if (update <= warmup) return update / warmup;
  if (training.schedule == RateSchedule::kConstant) return 1;
  const double passed = (update - warmup) / (static_cast<double>(training.steps) - warmup);
  return training.final_rate + (1 - training.final_rate) / 2 * (std::cos(std::numbers::pi * passed) + 1);
}

at::Tensor training_step(Model& model, Adam& adam, const TensorBatch& batch, const Pass& pass,
                         std::int64_t step, double rate_fraction, std::int64_t micro_batch) {
  model.project();
  const BatchResult made = add_gradients(model, batch, pass, micro_batch);
  model.parameters().collect_gradients();
  const at::Tensor norms = adam.update(model.parameters(), step, rate_fraction);
  return at::stack(
      {made.score.loss.to(at::kDouble), made.score.correct / made.counted, norms.to(at::kDouble)});
}

TrainingState::TrainingState(std::vector<RunConfig> replicas)
    : TrainingState(replicas, backend_of(replicas.front().execution)) {}

TrainingState::TrainingState(std::vector<RunConfig> replicas, const Backend& backend)
    : runs(std::move(replicas)),
      workload(create_workload(runs.front())),
      model(create_model(runs.front(), static_cast<std::int64_t>(runs.size()), backend)),
      adam(model->parameters(), learning_rates(runs), adam_options(runs.front().training), model->backend()) {
  model->parameters().initialise(seeds());
  if (runs.front().execution.replays_steps() && !backend.device().is_cpu()) {
    graphs = std::make_unique<StepGraphs>(*model, adam);
  }
}

std::vector<std::int64_t> TrainingState::seeds() const {
  std::vector<std::int64_t> seeds;
  for (const RunConfig& run : runs) seeds.push_back(run.seed);
  return seeds;
}

at::Tensor TrainingState::make_step(const SequenceBatch& batch) {
  const RunConfig& config = runs.front();
  const std::int64_t number = step++;
  const auto draw = static_cast<std::uint64_t>(number);
  const auto positions = create_positions(config, config.data_seed, Purpose::kPositions, draw);
  const Pass pass{.positions = positions,
                  .dropout = {config.training.dropout, seeds(), Purpose::kDropout, draw}};
  const double fraction = rate_fraction(config.training, number);
  if (graphs != nullptr) return graphs->step(batch, pass, number, fraction);
  return training_step(*model, adam, to_tensors(batch, 0, batch.size, model->backend().device()), pass,
                       number, fraction, config.execution.micro_batch);
}

void TrainingState::capture_graphs() {
  const TrainingConfig& training = runs.front().training;
  if (graphs == nullptr || graphs->count() > 0 || runs.front().has_text()) return;
  std::vector<std::int64_t> lengths(
      static_cast<std::size_t>(training.last_length - training.first_length + 1));
  std::iota(lengths.begin(), lengths.end(), training.first_length);
  std::ranges::stable_sort(lengths, std::greater(),
                           [this](std::int64_t length) { return workload->tokens(length); });
  std::vector<std::pair<at::Tensor, at::Tensor>> kept;
  for (const at::Tensor& x : {model->parameters().values(), adam.first_moment, adam.second_moment}) {
    kept.emplace_back(x.detach(), x.detach().clone());
  }
  const std::int64_t now = step;
  SequenceBatch batch;
  // The second step of a shape is captured.
  for (int round = 0; round < 2; ++round) {
    for (const std::int64_t length : lengths) {
      workload->evaluation_batch(length, 0, training.batch_size, batch);
      make_step(batch);
      step = now;
    }
  }
  for (const auto& [tensor, values] : kept) tensor.copy_(values);
}

void train(TrainingState& state, const AfterSteps& after_steps, std::optional<std::int64_t> until) {
  const RunConfig& config = state.runs.front();
  state.capture_graphs();
  BatchStream batches(*state.workload, state.step);
  UnreadSteps unread(state.model->backend().device());
  bool go_on = true;
  const std::int64_t last_step = until.value_or(config.training.steps);
  while (go_on && state.step < last_step) {
    const SequenceBatch& batch = batches.next();
    const at::Tensor measured = state.make_step(batch);
    unread.add(state.step, batch.length, measured);
    const bool ends_a_row = state.step % config.log.every_steps == 0 || state.step == last_step;
    if (!ends_a_row && !unread.are_due()) continue;
    std::vector<MeasuredStep> steps = unread.take();
    if (config.log.validation_steps > 0 && state.step % config.log.validation_steps == 0) {
      steps.back().result.validation_loss = validation_loss(state);
    }
    go_on = after_steps(steps);
    unread.restart_clock();
  }
}

}  // namespace che
