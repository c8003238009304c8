#include "experiments/bias_capture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/model_of_run.h"
#include "experiments/tensor_batch.h"
#include "models/encodings/encoding.h"
#include "tasks/task.h"

namespace che {
namespace {

// values (replicas or 1, [1,] heads, queries, keys) of the first replica.
void append(const at::Tensor& values, std::vector<float>& to) {
  const at::Tensor copy = values[0].to(at::kCPU, at::kFloat).contiguous();
  to.insert(to.end(), copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
}

void check_memory(const Transformer& model, const AttentionBias& bias, double memory_gib) {
  const auto tokens = static_cast<double>(bias.tokens);
  const double bytes = model.forward_bytes(bias.tokens, 1, /*observed=*/true) +
                       kAttentionBiasBytes * static_cast<double>(bias.layers * bias.heads) * tokens * tokens;
  if (bytes <= memory_gib * 0x1p30) return;
  throw Error(
      fmt::format("--length {}: {} tokens, each over each in {} layers of {} heads, take {:.2g} GiB of "
                  "{:.2g} GiB; shorten the sample or raise --memory-gib",
                  bias.length, bias.tokens, bias.layers, bias.heads, bytes / 0x1p30, memory_gib));
}

}  // namespace

void check_gives_bias(const RunConfig& config) {
  const auto& registry = Registry<EncodingEntry>::instance();
  if (registry.get(config.encoding.name).gives_bias) return;
  std::vector<std::string> biased;
  for (const std::string& name : registry.names()) {
    if (registry.get(name).gives_bias) biased.push_back(name);
  }
  throw Error(
      fmt::format("{} adds no bias to the attention logits, so there is none to show; these do: {}, "
                  "and DAPE around each",
                  config.encoding.shorthand(), fmt::join(biased, ", ")));
}

AttentionBias capture_bias(const Transformer& model, const RunConfig& config, std::int64_t length,
                           std::int64_t sample, double memory_gib) {
  check_gives_bias(config);
  check_length(config.task.name, length);
  const EvaluationConfig& evaluation = config.evaluation;
  if (sample < 0 || sample >= evaluation.samples) {
    throw Error(fmt::format("--sample {}: the run is evaluated on {} samples a length; allowed: 0 .. {}",
                            sample, evaluation.samples, evaluation.samples - 1));
  }
  const auto task = create_task(config.task.name, config.task.options);
  AttentionBias bias{.encoding = config.encoding.label(),
                     .task = config.task.name,
                     .length = length,
                     .sample = sample,
                     .layers = config.model.layers,
                     .heads = config.model.heads,
                     .tokens = task->input_length(length) + task->output_length(length),
                     .first_output = task->input_length(length)};
  check_memory(model, bias, memory_gib);

  // The sample and the positions that evaluation sees.
  const auto step = static_cast<std::uint64_t>(length);
  Batch batch;
  sample_batch(*task, config.task.name,
               {static_cast<std::uint64_t>(evaluation.seed), Purpose::kEvaluation, step,
                static_cast<std::uint64_t>(sample)},
               length, 1, batch);
  const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions, step,
                                          static_cast<std::uint64_t>(sample / kEvaluationBatch));
  const TensorBatch tensors =
      to_tensors(batch, 0, 1, model.vocabulary().inputs, tensor_options(config.execution).device());

  const c10::NoGradGuard no_grad;
  // Every token is asked for, so that the last layer too has all queries.
  model.forward(tensors.tokens, bias.tokens, *positions, Dropout{}, [&](const AttentionLogits& layer) {
    append(layer.scaled, bias.logit);
    append(layer.bias, bias.bias);
    append(layer.total - layer.scaled, bias.adapted);
  });
  return bias;
}

}  // namespace che
