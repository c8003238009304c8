#include "experiments/measure/attention_capture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "experiments/learn/batches.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"
#include "models/ops/attention/attention_terms.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// Appends those of the first replica from values (replicas or 1, [1,] heads, queries, keys), with zeros at
// keys up to `tokens` that were not computed, because no query sees them.
void append(const at::Tensor& values, std::int64_t tokens, std::vector<float>& to) {
  const at::Tensor copy =
      at::constant_pad_nd(values[0].to(at::kCPU, at::kFloat), {0, tokens - values.size(-1)}).contiguous();
  to.insert(to.end(), copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
}

// An upper estimate of what an observed pass over `tokens` (1, n) takes. Of many tokens only the first are
// measured: memory grows with their number, or with its square where a query sees all keys or all queries
// are observed.
double forward_bytes(const Model& model, const at::Tensor& tokens, const Positions& positions,
                     const AttentionBias& bias) {
  const bool is_linear = bias.causal && !bias.has_all_queries;
  // A causal pass without fused operations goes by blocks of queries from 2,049 on.
  const std::int64_t measured = std::min(tokens.size(1), std::int64_t{is_linear ? 2560 : 512});
  const auto growth = static_cast<double>(tokens.size(1)) / static_cast<double>(measured);
  Pass pass{.positions = positions, .observer = [](std::int64_t, const AttentionLogits&) {}};
  if (!bias.has_all_queries) pass.observed_query = measured - 1;
  return (is_linear ? growth : growth * growth) * static_cast<double>(peak_tensor_bytes([&] {
           model.features(tokens.slice(1, 0, measured), measured, pass);
         }));
}

// Distances of one layer, (queries, keys): randomized positions draw one for each offset or subtract those of
// two tokens.
void append_distances(const RunConfig& config, const Positions& positions, std::int64_t layer,
                      AttentionBias& bias) {
  const bool per_position = std::ranges::any_of(list_fields(config), [](const FieldRecord& field) {
    return field.path == "encoding.randomized_distance" && field.value == "per_position";
  });
  const Positions::List drawn =
      per_position ? positions.of_tokens(layer, bias.tokens) : positions.of_offsets(layer, bias.tokens);
  const auto at = [&](std::int64_t i) { return drawn[static_cast<std::size_t>(i)]; };
  for (std::int64_t query = bias.first_query(); query < bias.first_query() + bias.queries(); ++query) {
    for (std::int64_t key = 0; key < bias.tokens; ++key) {
      bias.distance.push_back(per_position   ? at(key) - at(query)
                              : key >= query ? at(key - query)
                                             : -at(query - key));
    }
  }
}

// Sets the query, and leaves the others out where a text has too many.
void choose_queries(const std::optional<std::int64_t>& asked, bool is_text, AttentionBias& bias) {
  bias.chosen_query = asked.value_or(is_text ? bias.tokens - 1 : bias.first_output);
  if (bias.chosen_query < 0 || bias.chosen_query >= bias.tokens) {
    throw Error(fmt::format("--query {}: the sample has {} tokens; allowed: 0 .. {}", bias.chosen_query,
                            bias.tokens, bias.tokens - 1));
  }
  if (!is_text) return;
  const std::int64_t of_one = bias.layers * bias.heads * bias.tokens;
  if (of_one > kMaxTextPairs) {
    throw Error(
        fmt::format("--length {}: one query over {} keys in {} layers of {} heads has {} pairs; "
                    "allowed: {}; shorten the window to {} tokens",
                    bias.length, bias.tokens, bias.layers, bias.heads, of_one, kMaxTextPairs,
                    kMaxTextPairs / (bias.layers * bias.heads)));
  }
  bias.has_all_queries = of_one * (bias.tokens + 1) / 2 <= kMaxTextPairs;
}

void check_memory(double forward_bytes, const AttentionBias& bias, double memory_gib) {
  constexpr double kPairBytes = 12 + 72;  // For a query, a key and a head, with its line of CSV.
  const auto pairs = static_cast<double>(bias.layers * bias.heads * bias.queries() * bias.tokens);
  const double bytes = forward_bytes + kPairBytes * pairs;
  if (bytes <= memory_gib * 0x1p30) return;
  throw Error(fmt::format(
      "--length {}: {} in {} layers of {} heads take {:.2g} GiB of {:.2g} GiB; shorten the sample or raise "
      "--memory-gib",
      bias.length,
      bias.has_all_queries ? fmt::format("{} tokens, each over each", bias.tokens)
                           : fmt::format("{} tokens, one over all,", bias.tokens),
      bias.layers, bias.heads, bytes / 0x1p30, memory_gib));
}

}  // namespace

void check_gives_bias(const RunConfig& config) {
  if (!config.model.entry().takes_encoding) {
    throw Error(
        fmt::format("model.kind {}: only encoders and decoders have a bias to show", config.model.kind));
  }
  const auto& registry = Registry<EncodingEntry>::instance();
  if (registry.get(config.encoding.name).gives_bias) return;
  std::vector<std::string> biased;
  for (const std::string& name : registry.names()) {
    if (registry.get(name).gives_bias) biased.push_back(name);
  }
  throw Error(fmt::format(
      "{} {}, so there is none to show; these do: {}, and DAPE around each", config.encoding.form().text(),
      config.encoding.dape ? "has no bias that DAPE's f would adapt" : "adds no bias to the attention logits",
      fmt::join(biased, ", ")));
}

AttentionBias capture_bias(const Model& model, const RunConfig& config, const CaptureChoice& choice) {
  check_gives_bias(config);
  const AttentionSize attention = model.attention_size().value();
  const EvaluationConfig& evaluation = config.evaluation;
  if (choice.sample < 0 || choice.sample >= evaluation.samples) {
    throw Error(fmt::format("--sample {}: the run is evaluated on {} samples a length; allowed: 0 .. {}",
                            choice.sample, evaluation.samples, evaluation.samples - 1));
  }
  // Evaluation sees this sample with these positions. A window of a text that is longer than the test lengths
  // ends elsewhere.
  RunConfig drawn = config;
  drawn.evaluation.text.longest = std::max(longest_window(evaluation), choice.length);
  const auto workload = create_workload(drawn);
  SequenceBatch batch;
  workload->evaluation_batch(choice.length, choice.sample, 1, batch);
  const auto positions = create_positions(config, evaluation.seed, Purpose::kEvaluationPositions,
                                          static_cast<std::uint64_t>(choice.length),
                                          static_cast<std::uint64_t>(choice.sample / kEvaluationBatch));
  AttentionBias bias{.encoding = config.encoding.label().text(),
                     .subject = config.subject(),
                     .length = choice.length,
                     .sample = choice.sample,
                     .has_f = config.encoding.dape.has_value(),
                     .adds_bias = !config.encoding.dape || config.encoding.dape->adds_bias(),
                     .causal = config.model.entry().is_causal,
                     .layers = attention.layers,
                     .heads = attention.heads,
                     .tokens = batch.width,
                     .first_output = config.has_text() ? batch.width : batch.width - batch.outputs};
  choose_queries(choice.query, config.has_text(), bias);
  const TensorBatch tensors = to_tensors(batch, 0, 1, model.backend().device());

  const c10::NoGradGuard no_grad;
  check_memory(forward_bytes(model, tensors.tokens, positions, bias), bias, choice.memory_gib);
  const auto observe = [&](std::int64_t, const AttentionLogits& layer) {
    append(layer.scaled, bias.tokens, bias.logit);
    append(layer.bias, bias.tokens, bias.bias);
    append(layer.total - layer.scaled, bias.tokens, bias.adapted);
  };
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    append_distances(config, positions, layer, bias);
  }
  Pass pass{.positions = positions, .observer = observe};
  if (!bias.has_all_queries) pass.observed_query = bias.chosen_query;
  // Every token is asked for, so that the last layer too has all queries.
  model.features(tensors.tokens, bias.tokens, pass);
  return bias;
}

std::string attention_bias_csv(const AttentionBias& bias) {
  std::string text =
      fmt::format("layer,head,query,key,output,distance,logit,bias,adapted{}\n", bias.has_f ? ",f" : "");
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      for (std::int64_t row = 0; row < bias.queries(); ++row) {
        const std::int64_t query = bias.first_query() + row;
        for (std::int64_t key = 0; key < (bias.causal ? query + 1 : bias.tokens); ++key) {
          // Adding 0 takes the sign off zeros.
          const std::size_t i = bias.index(layer, head, query, key);
          if (bias.adapted[i] < kOutOfSight / 2) continue;  // Beyond the head's window.
          const auto pair = static_cast<std::size_t>((layer * bias.queries() + row) * bias.tokens + key);
          fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.9g},{},{},{}", layer, head, query, key,
                         key >= bias.first_output ? 1 : 0, bias.distance[pair] + 0.0, bias.logit[i] + 0.0F,
                         bias.bias[i] + 0.0F, bias.adapted[i] + 0.0F);
          if (bias.has_f) fmt::format_to(std::back_inserter(text), ",{}", bias.f(i) + 0.0F);
          text += '\n';
        }
      }
    }
  }
  return text;
}

}  // namespace che
