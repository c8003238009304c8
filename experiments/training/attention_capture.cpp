#include "experiments/training/attention_capture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/training/model_factory.h"
#include "experiments/training/tensor_batch.h"
#include "models/memory_probe.h"
#include "models/settings/encoding_entry.h"
#include "tasks/task.h"

namespace che {
namespace {

// values (replicas or 1, [1,] heads, queries, keys) of the first replica.
void append(const at::Tensor& values, std::vector<float>& to) {
  const at::Tensor copy = values[0].to(at::kCPU, at::kFloat).contiguous();
  to.insert(to.end(), copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
}

// Tokens of the pass that is measured where there are more: attention's memory grows with their square.
constexpr std::int64_t kMeasuredTokens = 512;

// An upper estimate of what an observed pass over `tokens` takes; `forward` makes one over so many.
double forward_bytes(std::int64_t tokens, const std::function<void(std::int64_t tokens)>& forward) {
  const std::int64_t measured = std::min(tokens, kMeasuredTokens);
  const auto growth = static_cast<double>(tokens) / static_cast<double>(measured);
  return growth * growth * static_cast<double>(peak_tensor_bytes([&] { forward(measured); }));
}

void check_memory(double forward_bytes, const AttentionBias& bias, double memory_gib) {
  const auto tokens = static_cast<double>(bias.tokens);
  const double bytes =
      forward_bytes + kAttentionBiasBytes * static_cast<double>(bias.layers * bias.heads) * tokens * tokens;
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
                  config.encoding.form().text(), fmt::join(biased, ", ")));
}

AttentionBias capture_bias(const Transformer& model, const RunConfig& config, std::int64_t length,
                           std::int64_t sample, double memory_gib) {
  check_gives_bias(config);
  const auto task = create_task(config.task);
  check_length(*task, length);
  const EvaluationConfig& evaluation = config.evaluation;
  if (sample < 0 || sample >= evaluation.samples) {
    throw Error(fmt::format("--sample {}: the run is evaluated on {} samples a length; allowed: 0 .. {}",
                            sample, evaluation.samples, evaluation.samples - 1));
  }
  AttentionBias bias{.encoding = config.encoding.label().text(),
                     .task = config.task.name,
                     .length = length,
                     .sample = sample,
                     .has_f = config.encoding.dape.has_value(),
                     .adds_bias = !config.encoding.dape || config.encoding.dape->adds_bias(),
                     .layers = config.model.layers,
                     .heads = config.model.heads,
                     .tokens = task->input_length(length) + task->output_length(length),
                     .first_output = task->input_length(length)};
  // The sample and the positions that evaluation sees.
  const auto step = static_cast<std::uint64_t>(length);
  Batch batch;
  sample_batch(*task, evaluation_key(evaluation.seed, length, sample), length, 1, batch);
  const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions, step,
                                          static_cast<std::uint64_t>(sample / kEvaluationBatch));
  const TensorBatch tensors =
      to_tensors(batch, 0, 1, model.vocabulary().empty_symbol(), model.backend().device());

  const c10::NoGradGuard no_grad;
  const auto measured = [&](std::int64_t tokens) {
    model.forward(tensors.tokens.slice(1, 0, tokens), tokens, positions, Dropout{},
                  [](std::int64_t, const AttentionLogits&) {});
  };
  check_memory(forward_bytes(bias.tokens, measured), bias, memory_gib);
  // Every token is asked for, so that the last layer too has all queries.
  model.forward(tensors.tokens, bias.tokens, positions, Dropout{},
                [&](std::int64_t, const AttentionLogits& layer) {
                  append(layer.scaled, bias.logit);
                  append(layer.bias, bias.bias);
                  append(layer.total - layer.scaled, bias.adapted);
                });
  return bias;
}

}  // namespace che
