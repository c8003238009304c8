#include "experiments/range_evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/clock.h"
#include "experiments/model_of_run.h"
#include "experiments/tensor_batch.h"
#include "models/loss.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr double kWriteSeconds = 5;
constexpr double kProgressSeconds = 1;

}  // namespace

std::int64_t examples_within(const Transformer& model, std::int64_t tokens, double memory_gib) {
  // The estimate is linear in the number of examples.
  const double shared = model.forward_bytes(tokens, 0);
  const double each = model.forward_bytes(tokens, 1) - shared;
  const double budget = memory_gib * 0x1p30 / static_cast<double>(model.parameters().replicas());
  return static_cast<std::int64_t>(
      std::clamp((budget - shared) / each, 1.0, static_cast<double>(kEvaluationBatch)));
}

std::optional<std::vector<EvaluationRow>> evaluate_length(const Transformer& model,
                                                          const std::vector<RunConfig>& runs,
                                                          std::int64_t length, const std::atomic<int>& stop) {
  const c10::NoGradGuard no_grad;
  const RunConfig& config = runs.front();
  const EvaluationConfig& evaluation = config.evaluation;
  const auto task = create_task(config.task.name, config.task.options);
  const std::int64_t tokens = task->input_length(length) + task->output_length(length);
  const std::int64_t part = examples_within(model, tokens, config.execution.memory_gib);
  const auto replicas = static_cast<std::int64_t>(runs.size());
  const auto step = static_cast<std::uint64_t>(length);
  const at::Device device = tensor_options(config.execution).device();

  Dropout dropout{.purpose = Purpose::kEvaluationDropout, .step = step};
  if (evaluation.eval_dropout == "on") dropout.rate = config.training.dropout;
  for (const RunConfig& run : runs) dropout.seeds.push_back(run.seed);

  const std::int64_t batches = evaluation.samples / kEvaluationBatch;
  at::Tensor accuracy = at::zeros({replicas}, at::kDouble);
  at::Tensor loss = at::zeros({replicas}, at::kDouble);
  Batch batch;
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto first_example = static_cast<std::uint64_t>(b * kEvaluationBatch);
    sample_batch(*task, config.task.name,
                 {static_cast<std::uint64_t>(evaluation.seed), Purpose::kEvaluation, step, first_example},
                 length, kEvaluationBatch, batch);
    const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions, step,
                                            static_cast<std::uint64_t>(b));
    at::Tensor correct = at::zeros({replicas}, at::kDouble);
    double counted = 0;
    for (std::int64_t first = 0; first < kEvaluationBatch; first += part) {
      if (stop.load() != 0) return std::nullopt;
      const std::int64_t count = std::min(part, kEvaluationBatch - first);
      const TensorBatch tensors = to_tensors(batch, first, count, model.vocabulary().inputs, device);
      dropout.first_example = first_example + static_cast<std::uint64_t>(first);
      const BatchScore score =
          score_batch(model.forward(tensors.tokens, tensors.outputs(), *positions, dropout), tensors.targets,
                      tensors.mask);
      correct += score.correct.to(at::kCPU, at::kDouble);
      counted += tensors.mask.sum().item<double>();
      loss += score.loss.to(at::kCPU, at::kDouble) *
              (static_cast<double>(count) / static_cast<double>(evaluation.samples));
    }
    accuracy += correct / (counted * static_cast<double>(batches));
  }

  std::vector<EvaluationRow> rows;
  for (std::int64_t r = 0; r < replicas; ++r) {
    rows.push_back({length, evaluation.samples, evaluation.seed, evaluation.eval_dropout,
                    accuracy[r].item<double>(), loss[r].item<double>()});
  }
  return rows;
}

bool evaluate_lengths(const Transformer& model, const std::vector<RunConfig>& runs,
                      const std::vector<std::int64_t>& lengths, const ProgressSink& progress,
                      const std::atomic<int>& stop,
                      const std::function<void(const std::vector<EvaluationRow>&)>& take,
                      const std::function<void()>& write) {
  const Clock::time_point start = Clock::now();
  Clock::time_point last_write = start;
  Clock::time_point last_progress = start;
  std::size_t done = 0;
  while (done < lengths.size() && stop.load() == 0) {
    const auto rows = evaluate_length(model, runs, lengths[done], stop);
    if (!rows) break;
    take(*rows);
    ++done;
    if (seconds_since(last_write) >= kWriteSeconds) {
      write();
      last_write = Clock::now();
    }
    if (seconds_since(last_progress) < kProgressSeconds && done < lengths.size()) continue;
    const double per_second = static_cast<double>(done) / seconds_since(start);
    progress({.job = run_id(runs.front()),
              .phase = "evaluating",
              .done = static_cast<std::int64_t>(done),
              .total = static_cast<std::int64_t>(lengths.size()),
              .loss = rows->front().loss,
              .accuracy = rows->front().accuracy,
              .per_second = per_second,
              .seconds_left = static_cast<double>(lengths.size() - done) / per_second});
    last_progress = Clock::now();
  }
  write();
  return done == lengths.size();
}

}  // namespace che
