#include "experiments/learn/evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"
#include "experiments/plan/run_workload.h"

namespace che {
namespace {

constexpr double kSaveSeconds = 5;

// Lets a text's batch ask for the prediction behind every token of its windows. The mask of predictions that
// it did not ask for is 0.
void predict_all(SequenceBatch& batch) {
  const auto rows = static_cast<std::size_t>(batch.size);
  const auto width = static_cast<std::size_t>(batch.width);
  const auto outputs = static_cast<std::size_t>(batch.outputs);
  std::vector<std::int32_t> targets(rows * width);
  std::vector<std::uint8_t> mask(rows * width);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i + 1 < width; ++i) targets[row * width + i] = batch.tokens[row * width + i + 1];
    targets[(row + 1) * width - 1] = batch.targets[(row + 1) * outputs - 1];
    std::copy_n(batch.mask.begin() + static_cast<std::ptrdiff_t>(row * outputs), outputs,
                mask.begin() + static_cast<std::ptrdiff_t>((row + 1) * width - outputs));
  }
  batch.outputs = batch.width;
  batch.targets = std::move(targets);
  batch.mask = std::move(mask);
}

// Means of `losses` (positions) over the bins of positions.csv.
std::vector<PositionLoss> binned(const at::Tensor& losses) {
  std::vector<PositionLoss> bins;
  const std::int64_t length = losses.size(0);
  for (std::int64_t first = 0, end = 0; first < length; first = end) {
    end = position_bin_end(first, length);
    bins.push_back({first, end - first, losses.slice(0, first, end).mean().item<double>()});
  }
  return bins;
}

}  // namespace

std::int64_t examples_within(double memory_gib, const Model& model, const SequenceBatch& batch,
                             const Pass& pass, Wanted wanted) {
  constexpr std::int64_t kMeasuredExamples = 8;
  // A pass cannot be stopped, so attention takes few very long sequences: 64 of 8192 tokens, 2 of 40000.
  constexpr std::int64_t kMostPairs = std::int64_t{64} * 8192 * 8192;
  const std::int64_t fitting_pairs = kMostPairs / (batch.width * batch.width);
  const std::int64_t at_most =
      model.attention_size() ? std::clamp<std::int64_t>(fitting_pairs, 1, batch.size) : batch.size;
  if (at_most == 1) return 1;
  // A first pass makes the tables and the like that a device keeps, so that they count for no example.
  if (!model.backend().device().is_cpu()) predict_rows(model, batch, 0, 1, pass);
  // How many fit if `examples` take as much as measured.
  const auto fitting = [&](std::int64_t examples) {
    const auto bytes = static_cast<double>(
        peak_tensor_bytes([&] { predict_rows(model, batch, 0, examples, pass, wanted); }));
    const double most = std::floor(memory_gib * 0x1p30 / bytes) * static_cast<double>(examples);
    return static_cast<std::int64_t>(std::min(most, static_cast<double>(at_most)));
  };
  if (fitting(1) < 2) return 1;
  const std::int64_t first = fitting(2);
  if (first <= 2 || first == at_most) return std::max<std::int64_t>(first, 1);
  return std::max(first, fitting(std::min(first, kMeasuredExamples)));
}

std::optional<LengthResult> evaluate_length(const Model& model, const std::vector<RunConfig>& runs,
                                            std::int64_t length, const std::atomic<int>& stop,
                                            KeptDetails kept) {
  const c10::NoGradGuard no_grad;
  const RunConfig& config = runs.front();
  const EvaluationConfig& evaluation = config.evaluation;
  const auto workload = create_workload(config);
  const auto replicas = static_cast<std::int64_t>(runs.size());
  const auto step = static_cast<std::uint64_t>(length);
  const at::Device device = model.backend().device();

  Dropout dropout{.purpose = Purpose::kEvaluationDropout, .step = step};
  if (evaluation.eval_dropout) dropout.rate = config.training.dropout;
  for (const RunConfig& run : runs) dropout.seeds.push_back(run.seed);

  const std::int64_t batches = evaluation.samples / kEvaluationBatch;
  // They lie on the device, for which the host waits once a length.
  const at::TensorOptions sums = at::TensorOptions().dtype(at::kDouble).device(device);
  at::Tensor accuracy = at::zeros({replicas}, sums);
  at::Tensor loss = at::zeros({replicas}, sums);
  // The accuracy on each batch. A tensor for each would keep the memory around it from being used again.
  const at::Tensor by_batch = at::empty({batches, replicas}, sums);
  LengthResult result;
  std::vector<at::Tensor> window_losses;  // (replicas, examples)
  std::vector<EvaluationWindow> windows;
  const bool has_curve =
      kept.curve && config.has_text() && evaluation.text.curve && length == evaluation.lengths().back();
  at::Tensor by_position;  // (replicas, tokens)
  if (has_curve) by_position = at::zeros({replicas, workload->tokens(length)}, sums);
  SequenceBatch batch;
  std::int64_t part = 0;  // Examples of a forward pass.
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t first_example = b * kEvaluationBatch;
    workload->evaluation_batch(length, first_example, kEvaluationBatch, batch);
    const std::int64_t counting = batch.outputs;
    if (has_curve) predict_all(batch);
    const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions, step,
                                            static_cast<std::uint64_t>(b));
    dropout.first_example = static_cast<std::uint64_t>(first_example);
    const Pass pass{.positions = positions, .dropout = dropout, .is_evaluation = true};
    const bool has_windows = !batch.windows.empty();
    const Wanted wanted{.classes = kept.predictions, .losses = has_windows};
    if (part == 0) part = examples_within(config.execution.memory_gib, model, batch, pass, wanted);
    windows.insert(windows.end(), batch.windows.begin(), batch.windows.end());
    at::Tensor correct = at::zeros({replicas}, sums);
    at::Tensor counted = at::zeros({}, sums);
    for (std::int64_t first = 0; first < kEvaluationBatch; first += part) {
      if (stop.load() != 0) return std::nullopt;
      const std::int64_t count = std::min(part, kEvaluationBatch - first);
      const BatchResult predicted = predict_rows(model, batch, first, count, pass, wanted);
      if (kept.predictions) {
        if (!result.predictions.defined()) {
          result.predictions = at::empty({replicas, evaluation.samples, batch.outputs}, at::kByte);
        }
        result.predictions.narrow(1, first_example + first, count).copy_(predicted.classes);
      }
      if (has_windows) {
        const at::Tensor losses = predicted.losses.to(at::kDouble);
        window_losses.push_back(losses.slice(2, batch.outputs - counting).mean(2));
        if (has_curve) by_position += losses.sum(1) / static_cast<double>(evaluation.samples);
      }
      correct += predicted.score.correct.to(at::kDouble);
      counted += predicted.counted;
      loss += predicted.score.loss.to(at::kDouble) *
              (static_cast<double>(count) / static_cast<double>(evaluation.samples));
    }
    accuracy += correct / (counted * static_cast<double>(batches));
    by_batch[b].copy_(correct / counted);
  }
  // Batches are drawn independently, each with positions of its own. LibTorch rounds the deviations of
  // several columns in another way than that of one, so each replica's deviation is taken alone.
  at::Tensor errors = at::zeros({replicas}, sums);
  for (std::int64_t r = 0; batches > 1 && r < replicas; ++r) {
    const at::Tensor column = by_batch.slice(1, r, r + 1).contiguous();
    errors.slice(0, r, r + 1).copy_(column.std(0, true) / std::sqrt(static_cast<double>(batches)));
  }
  accuracy.clamp_max_(1);  // Rounding carries the sum of shares beyond 1 for many numbers of batches.
  const at::Tensor results = at::stack({accuracy, loss, errors}).to(at::kCPU);
  const at::Tensor by_window = windows.empty() ? at::Tensor() : at::cat(window_losses, 1).to(at::kCPU);
  if (has_curve) by_position = by_position.to(at::kCPU);

  for (std::int64_t r = 0; r < replicas; ++r) {
    result.rows.push_back({length, evaluation.samples, evaluation.seed, evaluation.eval_dropout,
                           results[0][r].item<double>(), results[1][r].item<double>(),
                           evaluation_settings(config)});
    EvaluationRow& row = result.rows.back();
    if (batches > 1) row.accuracy_se = results[2][r].item<double>();
    double sum = 0;
    for (std::size_t w = 0; w < windows.size(); ++w) {
      row.windows.push_back({windows[w], by_window[r][static_cast<std::int64_t>(w)].item<double>()});
      sum += row.windows.back().loss;
    }
    // Windows count alike, so this has the same bits however the batches are split.
    if (!windows.empty()) row.loss = sum / static_cast<double>(windows.size());
    if (has_curve) row.positions = binned(by_position[r]);
  }
  return result;
}

Evaluation::Evaluation(const Model& model, const std::vector<RunConfig>& runs,
                       std::vector<std::int64_t> lengths, const ProgressSink& progress,
                       const std::atomic<int>& stop)
    : model_(model),
      runs_(runs),
      lengths_(std::move(lengths)),
      stop_(stop),
      meter_({.job = run_id(runs.front()),
              .runs = runs.size(),
              .phase = Phase::kEvaluating,
              .total = static_cast<std::int64_t>(lengths_.size())},
             evaluation_operations(runs.front(), lengths_), progress),
      save_timer_(kSaveSeconds) {}

std::optional<LengthResult> Evaluation::next(KeptDetails kept) {
  if (is_complete() || stop_.load() != 0) return std::nullopt;
  const std::int64_t length = lengths_[done_];
  std::optional<LengthResult> result = evaluate_length(model_, runs_, length, stop_, kept);
  if (!result) return std::nullopt;
  const auto replicas = static_cast<double>(result->rows.size());
  double loss = 0;
  double accuracy = 0;
  for (const EvaluationRow& row : result->rows) {
    loss += row.loss / replicas;
    accuracy += row.accuracy / replicas;
  }
  meter_.add(evaluation_operations(runs_.front(), {length}), loss, accuracy);
  ++done_;
  return result;
}

}  // namespace che
