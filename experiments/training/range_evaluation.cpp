#include "experiments/training/range_evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/clock.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"
#include "experiments/schedule/progress.h"
#include "experiments/training/model_factory.h"
#include "experiments/training/tensor_batch.h"
#include "models/memory_probe.h"
#include "models/ops/batch_score/batch_score.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr double kWriteSeconds = 5;

}  // namespace

std::int64_t examples_within(double memory_gib, const std::function<void(std::int64_t examples)>& forward) {
  constexpr std::int64_t kMeasuredExamples = 8;
  // How many fit where `examples` take what was measured.
  const auto fitting = [&](std::int64_t examples) {
    const auto bytes = static_cast<double>(peak_tensor_bytes([&] { forward(examples); }));
    const double most = std::floor(memory_gib * 0x1p30 / bytes) * static_cast<double>(examples);
    return static_cast<std::int64_t>(std::min(most, static_cast<double>(kEvaluationBatch)));
  };
  if (fitting(1) < 2) return 1;
  const std::int64_t first = fitting(2);
  if (first <= 2 || first == kEvaluationBatch) return std::max<std::int64_t>(first, 1);
  return std::max(first, fitting(std::min(first, kMeasuredExamples)));
}

std::optional<std::vector<EvaluationRow>> evaluate_length(const Transformer& model,
                                                          const std::vector<RunConfig>& runs,
                                                          std::int64_t length, const std::atomic<int>& stop,
                                                          const PredictionSink& predicted) {
  const c10::NoGradGuard no_grad;
  const RunConfig& config = runs.front();
  const EvaluationConfig& evaluation = config.evaluation;
  const auto task = create_task(config.task);
  const auto replicas = static_cast<std::int64_t>(runs.size());
  const auto step = static_cast<std::uint64_t>(length);
  const at::Device device = model.backend().device();

  Dropout dropout{.purpose = Purpose::kEvaluationDropout, .step = step};
  if (evaluation.eval_dropout) dropout.rate = config.training.dropout;
  for (const RunConfig& run : runs) dropout.seeds.push_back(run.seed);

  const std::int64_t batches = evaluation.samples / kEvaluationBatch;
  // On the device, which the host waits for once a length.
  const at::TensorOptions sums = at::TensorOptions().dtype(at::kDouble).device(device);
  at::Tensor accuracy = at::zeros({replicas}, sums);
  at::Tensor loss = at::zeros({replicas}, sums);
  std::vector<at::Tensor> shares;  // The accuracy on each batch.
  const std::int64_t empty_symbol = model.vocabulary().empty_symbol();
  Batch batch;
  std::int64_t part = 0;  // Examples of a forward pass.
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t first_example = b * kEvaluationBatch;
    sample_batch(*task, evaluation_key(evaluation.seed, length, first_example), length, kEvaluationBatch,
                 batch);
    const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions, step,
                                            static_cast<std::uint64_t>(b));
    const auto measure = [&](std::int64_t first, std::int64_t count) {
      const TensorBatch tensors = to_tensors(batch, first, count, empty_symbol, device);
      dropout.first_example = static_cast<std::uint64_t>(first_example + first);
      const at::Tensor logits = model.forward(tensors.tokens, tensors.outputs(), positions, dropout);
      return std::tuple(logits, score_batch(logits, tensors.targets, tensors.mask, model.backend()),
                        tensors.mask.sum(at::kDouble));
    };
    if (part == 0) {
      // What a device allocates once and keeps, such as tables, is no part of what an example takes.
      if (!device.is_cpu()) measure(0, 1);
      part = examples_within(config.execution.memory_gib, [&](std::int64_t count) { measure(0, count); });
    }
    at::Tensor correct = at::zeros({replicas}, sums);
    at::Tensor counted = at::zeros({}, sums);
    for (std::int64_t first = 0; first < kEvaluationBatch; first += part) {
      if (stop.load() != 0) return std::nullopt;
      const std::int64_t count = std::min(part, kEvaluationBatch - first);
      const auto [logits, score, symbols] = measure(first, count);
      // The class that score_batch counts as predicted.
      if (predicted) predicted(length, first_example + first, logits.argmax(-1).to(at::kCPU).contiguous());
      correct += score.correct.to(at::kDouble);
      counted += symbols;
      loss +=
          score.loss.to(at::kDouble) * (static_cast<double>(count) / static_cast<double>(evaluation.samples));
    }
    accuracy += correct / (counted * static_cast<double>(batches));
    shares.push_back(correct / counted);
  }
  // Batches are drawn independently, each with positions of its own.
  const at::Tensor errors = batches < 2
                                ? at::zeros({replicas}, sums)
                                : at::stack(shares).std(0, true) / std::sqrt(static_cast<double>(batches));
  const at::Tensor results = at::stack({accuracy, loss, errors}).to(at::kCPU);

  std::vector<EvaluationRow> rows;
  for (std::int64_t r = 0; r < replicas; ++r) {
    rows.push_back({length, evaluation.samples, evaluation.seed, evaluation.eval_dropout,
                    results[0][r].item<double>(), results[1][r].item<double>(),
                    config.encoding.evaluation_settings()});
    if (batches > 1) rows.back().accuracy_se = results[2][r].item<double>();
  }
  return rows;
}

bool evaluate_lengths(const Transformer& model, const std::vector<RunConfig>& runs,
                      const std::vector<std::int64_t>& lengths, const ProgressSink& progress,
                      const std::atomic<int>& stop,
                      const std::function<void(const std::vector<EvaluationRow>&)>& take,
                      const std::function<void()>& write, const PredictionSink& predicted) {
  const RunConfig& config = runs.front();
  ProgressMeter meter(run_id(config), Phase::kEvaluating, 0, static_cast<std::int64_t>(lengths.size()),
                      evaluation_operations(config, lengths), progress);
  Every write_timer(kWriteSeconds);
  std::size_t done = 0;
  while (done < lengths.size() && stop.load() == 0) {
    const auto rows = evaluate_length(model, runs, lengths[done], stop, predicted);
    if (!rows) break;
    take(*rows);
    const auto replicas = static_cast<double>(rows->size());
    double loss = 0;
    double accuracy = 0;
    for (const EvaluationRow& row : *rows) {
      loss += row.loss / replicas;
      accuracy += row.accuracy / replicas;
    }
    meter.add(evaluation_operations(config, {lengths[done]}), loss, accuracy);
    ++done;
    if (write_timer.is_due()) write();
  }
  write();
  return done == lengths.size();
}

}  // namespace che
