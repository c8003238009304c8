#include <ATen/ATen.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "models/architectures/encoder_model.h"
#include "models/ops/dropout/dropout.h"
#include "models/ops/feed_forward/feed_forward.h"
#include "models/ops/product/product.h"
#include "models/ops/residual_norm/residual_norm.h"

namespace che {
namespace {

// Begins the names of the encoding's parameters next to the embedding.
constexpr const char* kSharedPrefix = "pos.";
// LayerNorm before the head, of pre_norm.
constexpr const char* kLastNorm = "ln_f";

// Dropout sites: the embedding, then two a layer.
constexpr std::uint32_t kEmbeddingSite = 0;
std::uint32_t attention_site(std::int64_t layer) { return static_cast<std::uint32_t>(2 * layer + 1); }
std::uint32_t ffn_site(std::int64_t layer) { return static_cast<std::uint32_t>(2 * layer + 2); }

std::string layer_prefix(std::int64_t layer) { return fmt::format("layer{}.", layer); }
std::string attention_prefix(std::int64_t layer) { return layer_prefix(layer) + "attn."; }

// A slice of all tokens would cost its backward pass a fill and a copy.
at::Tensor tokens_from(std::int64_t first, const at::Tensor& x) { return first == 0 ? x : x.slice(2, first); }

void add_layer_norm(std::vector<ParameterSpec>& specs, const std::string& name, std::int64_t width) {
  specs.push_back({name + ".scale", {width}, Init::constant(1)});
  specs.push_back({name + ".offset", {width}, Init::constant(0)});
}

// As GPT-NeoX: small_init for what reads the residual stream, wang_init for what adds to it.
Init small_init(const ModelShape& shape) {
  return Init::normal(std::sqrt(0.4 / static_cast<double>(shape.width)));
}
Init wang_init(const ModelShape& shape) {
  return Init::normal(2 / (static_cast<double>(shape.layers) * std::sqrt(static_cast<double>(shape.width))));
}

void add_prefixed(std::vector<ParameterSpec>& specs, const std::string& prefix,
                  std::vector<ParameterSpec> added) {
  for (ParameterSpec& spec : added) {
    spec.name = prefix + spec.name;
    specs.push_back(std::move(spec));
  }
}

}  // namespace

std::vector<ParameterSpec> encoder_parameters(const ModelParts& parts) {
  const auto& shape = parts.options.as<ModelShape>();
  const Encoding& encoding = *parts.encoding;
  const std::int64_t d = shape.width;
  const std::int64_t hidden = d * shape.ffn_multiple;
  const bool is_pre_norm = shape.block == BlockForm::kPreNorm;
  const Init reads = is_pre_norm ? small_init(shape) : Init::fan_in(d);
  std::vector<ParameterSpec> specs;
  specs.push_back(
      {"embed.w", {parts.vocabulary.tokens, d}, is_pre_norm ? reads : Init::truncated_normal(0.02)});
  add_prefixed(specs, kSharedPrefix, encoding.embedding_parameters(shape));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string attention = attention_prefix(layer);
    for (const char* name : {"wq", "wk", "wv"}) specs.push_back({attention + name, {d, d}, reads});
    specs.push_back({attention + "wo", {d, d}, is_pre_norm ? wang_init(shape) : reads});
    if (is_pre_norm) {
      for (const char* name : {"bq", "bk", "bv", "bo"})
        specs.push_back({attention + name, {d}, Init::constant(0)});
    }
    add_prefixed(specs, attention, encoding.layer_parameters(shape));
    const std::string prefix = layer_prefix(layer);
    add_layer_norm(specs, prefix + "ln1", d);
    specs.push_back({prefix + "ffn.w1", {d, hidden}, reads});
    specs.push_back({prefix + "ffn.b1", {hidden}, Init::constant(0)});
    specs.push_back({prefix + "ffn.w2", {hidden, d}, is_pre_norm ? wang_init(shape) : Init::fan_in(hidden)});
    specs.push_back({prefix + "ffn.b2", {d}, Init::constant(0)});
    add_layer_norm(specs, prefix + "ln2", d);
  }
  if (is_pre_norm) add_layer_norm(specs, kLastNorm, d);
  specs.push_back({"out.w", {d, parts.vocabulary.classes}, reads});
  if (!is_pre_norm) specs.push_back({"out.b", {parts.vocabulary.classes}, Init::constant(0)});
  return specs;
}

Encoder::Encoder(ModelParts parts, std::int64_t replicas, const Backend& backend)
    : Model(encoder_parameters(parts), replicas, backend),
      shape_(parts.options.as<ModelShape>()),
      vocabulary_(parts.vocabulary),
      encoding_(std::move(parts.encoding)) {}

at::Tensor Encoder::head(const at::Tensor& features) const {
  return affine(features, parameters()["out.w"], is_pre_norm() ? at::Tensor() : parameters()["out.b"]);
}

at::Tensor Encoder::features(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const {
  const std::int64_t length = tokens.size(1);
  const at::Tensor& vectors = parameters()["embed.w"];
  EmbeddedInput input{Embedding(tokens, vocabulary_.tokens, parameters().replicas(), backend()),
                      is_pre_norm() ? vectors : vectors * std::sqrt(shape_.width)};
  at::Tensor x = input.tokens.rows(input.vectors, 0);

  EncodingContext embedding = context_of(Positions::kEmbeddingLayer, length, 0, pass.positions);
  embedding.parameters = embedding.shared;
  const at::Tensor absolute = encoding_->embedding(embedding);
  if (absolute.defined()) x = che::dropout(x + absolute, {pass.dropout, kEmbeddingSite, 0}, backend());
  // Products once per symbol lose where a large vocabulary has more symbols than the batch has tokens.
  const bool once_per_symbol =
      !absolute.defined() && vocabulary_.tokens <= std::max(Embedding::kMostOneHot, tokens.numel());
  x = is_pre_norm() ? pre_norm(x, once_per_symbol ? &input : nullptr, length - outputs, pass)
                    : post_norm(x, once_per_symbol ? &input : nullptr, length - outputs, pass);
  return tokens_from(x.size(2) - outputs, x);
}

at::Tensor Encoder::post_norm(at::Tensor x, const EmbeddedInput* input, std::int64_t first_output,
                              const Pass& pass) const {
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
    const std::int64_t first_query = layer + 1 == shape_.layers ? first_output : 0;
    const ParameterView weights(parameters(), layer_prefix(layer));
    const at::Tensor attended = affine(attend(x, layer == 0 ? input : nullptr, layer, first_query, pass),
                                       weights["attn.wo"], {}, backend().operands);
    const at::Tensor a =
        residual_norm(tokens_from(first_query, x), attended, {}, weights["ln1.scale"], weights["ln1.offset"],
                      {pass.dropout, attention_site(layer), first_query}, backend());
    const at::Tensor transformed = feed_forward(a, weights["ffn.w1"], weights["ffn.b1"], weights["ffn.w2"],
                                                Activation::kRelu, backend());
    x = residual_norm(a, transformed, weights["ffn.b2"], weights["ln2.scale"], weights["ln2.offset"],
                      {pass.dropout, ffn_site(layer), first_query}, backend());
  }
  return x;
}

at::Tensor Encoder::pre_norm(at::Tensor x, EmbeddedInput* input, std::int64_t first_output,
                             const Pass& pass) const {
  // The norm that follows layer - 1.
  const auto next_norm = [&](std::int64_t layer) {
    return ParameterView(parameters(),
                         layer < shape_.layers ? layer_prefix(layer) + "ln1." : std::string(kLastNorm) + ".");
  };
  const ParameterView first_norm = next_norm(0);
  at::Tensor normal;
  if (input != nullptr) {
    input->vectors = layer_norm(input->vectors, first_norm["scale"], first_norm["offset"]);
    normal = input->tokens.rows(input->vectors, 0);
  } else {
    normal = layer_norm(x, first_norm["scale"], first_norm["offset"]);
  }
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
    const std::int64_t first_query = layer + 1 == shape_.layers ? first_output : 0;
    const ParameterView weights(parameters(), layer_prefix(layer));
    const at::Tensor attended = affine(attend(normal, layer == 0 ? input : nullptr, layer, first_query, pass),
                                       weights["attn.wo"], {}, backend().operands);
    const SumAndNorm a = residual_sum_norm(tokens_from(first_query, x), attended, weights["attn.bo"],
                                           weights["ln2.scale"], weights["ln2.offset"],
                                           {pass.dropout, attention_site(layer), first_query}, backend());
    const at::Tensor transformed = feed_forward(a.norm, weights["ffn.w1"], weights["ffn.b1"],
                                                weights["ffn.w2"], Activation::kGelu, backend());
    const ParameterView norm = next_norm(layer + 1);
    const SumAndNorm next =
        residual_sum_norm(a.sum, transformed, weights["ffn.b2"], norm["scale"], norm["offset"],
                          {pass.dropout, ffn_site(layer), first_query}, backend());
    x = next.sum;
    normal = next.norm;
  }
  return normal;
}

EncodingContext Encoder::context_of(std::int64_t layer, std::int64_t tokens, std::int64_t first_query,
                                    const Positions& positions) const {
  return {shape_,
          layer,
          tokens,
          first_query,
          positions,
          {parameters(), attention_prefix(layer)},
          {parameters(), kSharedPrefix},
          backend(),
          tables_,
          {},
          {}};
}

at::Tensor Encoder::attend(const at::Tensor& x, const EmbeddedInput* input, std::int64_t layer,
                           std::int64_t first_query, const Pass& pass) const {
  EncodingContext context = context_of(layer, x.size(2), first_query, pass.positions);
  context.logit_scale = encoding_->logit_scale(context);
  context.input = x;
  // The products with the weights of these names, and the biases that go with them, for the tokens from
  // `first` on: (replicas, batch, n, heads, head_width) each.
  const auto heads = [&](std::int64_t first, std::initializer_list<std::string> names) {
    std::vector<at::Tensor> weights, biases;
    for (const std::string& name : names) {
      weights.push_back(context.parameters["w" + name]);
      if (is_pre_norm()) biases.push_back(context.parameters["b" + name]);
    }
    std::vector<at::Tensor> projected = affine_each(input != nullptr ? input->vectors : tokens_from(first, x),
                                                    weights, biases, backend().operands);
    for (at::Tensor& one : projected) {
      if (input != nullptr) one = input->tokens.rows(one, first);
      one = one.unflatten(3, {shape_.heads, shape_.head_width()});
    }
    return projected;
  };
  std::vector<at::Tensor> operands = first_query == 0 ? heads(0, {"k", "v", "q"}) : heads(0, {"k", "v"});
  if (first_query != 0) operands.push_back(heads(first_query, {"q"}).front());
  const at::Tensor q = encoding_->rotate(operands[2], Operand::kQueries, context);
  const at::Tensor k = encoding_->rotate(operands[0], Operand::kKeys, context);
  const at::Tensor& v = operands[1];
  const auto observe = [&](const AttentionLogits& logits) { pass.observer(layer, logits); };
  std::optional<std::int64_t> observed_query;
  if (pass.observed_query) observed_query = *pass.observed_query - first_query;
  return attention(q, k, v, encoding_->attention_terms(context), backend(),
                   {.scale = context.logit_scale,
                    .mask = encoding_->mask(context),
                    .causal = shape_.causal,
                    .observer = pass.observer ? LogitsObserver(observe) : nullptr,
                    .observed_query = observed_query})
      .flatten(3);
}

std::optional<EncodingTable> Encoder::encoding_table(std::int64_t tokens, const Positions& positions) const {
  return encoding_->table(context_of(0, tokens, 0, positions));
}

void Encoder::project() {
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer)
    encoding_->project({parameters(), attention_prefix(layer)});
}

std::unique_ptr<Model> make_encoder(ModelParts parts, std::int64_t replicas, const Backend& backend) {
  return std::make_unique<Encoder>(std::move(parts), replicas, backend);
}

namespace {

const Registered<Architecture> encoder_architecture{
    {.name = "encoder", .parameters = encoder_parameters, .make = make_encoder}};

}  // namespace

}  // namespace che
