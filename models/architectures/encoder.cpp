#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <utility>

#include "models/architectures/encoder_model.h"
#include "models/ops/dropout/dropout.h"
#include "models/ops/feed_forward/feed_forward.h"
#include "models/ops/product/product.h"
#include "models/ops/residual_norm/residual_norm.h"

namespace che {
namespace {

// Begins the names of the encoding's parameters next to the embedding.
constexpr const char* kSharedPrefix = "pos.";

// Dropout sites: the embedding, then two a layer.
constexpr std::uint32_t kEmbeddingSite = 0;
std::uint32_t attention_site(std::int64_t layer) { return static_cast<std::uint32_t>(2 * layer + 1); }
std::uint32_t ffn_site(std::int64_t layer) { return static_cast<std::uint32_t>(2 * layer + 2); }

// x (replicas, ..., in) times w (replicas, in, out), plus b (replicas, out) where given.
at::Tensor affine(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b = {}) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = w.size(2);
  const at::Tensor rows = x.reshape({x.size(0), -1, x.size(-1)});
  const at::Tensor xw = product(rows, w);
  return (b.defined() ? xw + b.unsqueeze(1) : xw).view(shape);
}

std::string layer_prefix(std::int64_t layer) { return fmt::format("layer{}.", layer); }
std::string attention_prefix(std::int64_t layer) { return layer_prefix(layer) + "attn."; }

Init fan_in(std::int64_t inputs) {
  return Init::truncated_normal(1 / std::sqrt(static_cast<double>(inputs)));
}

void add_layer_norm(std::vector<ParameterSpec>& specs, const std::string& name, std::int64_t width) {
  specs.push_back({name + ".scale", {width}, Init::constant(1)});
  specs.push_back({name + ".offset", {width}, Init::constant(0)});
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
  std::vector<ParameterSpec> specs;
  specs.push_back({"embed.w", {parts.vocabulary.tokens, d}, Init::truncated_normal(0.02)});
  add_prefixed(specs, kSharedPrefix, encoding.embedding_parameters(shape));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string attention = attention_prefix(layer);
    for (const char* name : {"wq", "wk", "wv", "wo"}) specs.push_back({attention + name, {d, d}, fan_in(d)});
    add_prefixed(specs, attention, encoding.layer_parameters(shape));
    const std::string prefix = layer_prefix(layer);
    add_layer_norm(specs, prefix + "ln1", d);
    specs.push_back({prefix + "ffn.w1", {d, hidden}, fan_in(d)});
    specs.push_back({prefix + "ffn.b1", {hidden}, Init::constant(0)});
    specs.push_back({prefix + "ffn.w2", {hidden, d}, fan_in(hidden)});
    specs.push_back({prefix + "ffn.b2", {d}, Init::constant(0)});
    add_layer_norm(specs, prefix + "ln2", d);
  }
  specs.push_back({"out.w", {d, parts.vocabulary.classes}, fan_in(d)});
  specs.push_back({"out.b", {parts.vocabulary.classes}, Init::constant(0)});
  return specs;
}

Encoder::Encoder(ModelParts parts, std::int64_t replicas, const Backend& backend)
    : Model(encoder_parameters(parts), replicas, backend),
      shape_(parts.options.as<ModelShape>()),
      vocabulary_(parts.vocabulary),
      encoding_(std::move(parts.encoding)) {}

at::Tensor Encoder::forward(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const {
  const std::int64_t length = tokens.size(1);
  const Dropout& dropout = pass.dropout;
  const EmbeddedInput input{Embedding(tokens, vocabulary_.tokens, parameters().replicas(), backend()),
                            parameters()["embed.w"] * std::sqrt(shape_.width)};
  at::Tensor x = input.tokens.rows(input.vectors, 0);

  EncodingContext embedding = context_of(Positions::kEmbeddingLayer, length, 0, pass.positions);
  embedding.parameters = embedding.shared;
  const at::Tensor absolute = encoding_->embedding(embedding);
  if (absolute.defined()) x = che::dropout(x + absolute, {dropout, kEmbeddingSite, 0}, backend());

  for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
    const std::int64_t first_query = layer + 1 == shape_.layers ? length - outputs : 0;
    const ParameterView weights(parameters(), layer_prefix(layer));
    const at::Tensor attended =
        affine(attend(x, layer == 0 && !absolute.defined() ? &input : nullptr, layer, first_query, pass),
               weights["attn.wo"]);
    const at::Tensor a =
        residual_norm(x.slice(2, first_query), attended, {}, weights["ln1.scale"], weights["ln1.offset"],
                      {dropout, attention_site(layer), first_query}, backend());
    const at::Tensor transformed =
        feed_forward(a, weights["ffn.w1"], weights["ffn.b1"], weights["ffn.w2"], backend());
    x = residual_norm(a, transformed, weights["ffn.b2"], weights["ln2.scale"], weights["ln2.offset"],
                      {dropout, ffn_site(layer), first_query}, backend());
  }
  return affine(x.slice(2, x.size(2) - outputs), parameters()["out.w"], parameters()["out.b"]);
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
  // The product with a weight, for the tokens from `first` on.
  const auto heads = [&](std::int64_t first, const char* weight) {
    const at::Tensor& w = context.parameters[weight];
    const at::Tensor projected = input != nullptr ? input->tokens.rows(product(input->vectors, w), first)
                                                  : affine(x.slice(2, first), w);
    return projected.unflatten(3, {shape_.heads, shape_.head_width()});
  };
  // (replicas, batch, n, heads, head_width)
  const at::Tensor q = encoding_->rotate(heads(first_query, "wq"), Operand::kQueries, context);
  const at::Tensor k = encoding_->rotate(heads(0, "wk"), Operand::kKeys, context);
  const at::Tensor v = heads(0, "wv");
  const auto observe = [&](const AttentionLogits& logits) { pass.observer(layer, logits); };
  return attention(q, k, v, encoding_->attention_terms(context), backend(),
                   {.scale = context.logit_scale,
                    .mask = encoding_->mask(context),
                    .causal = shape_.causal,
                    .observer = pass.observer ? LogitsObserver(observe) : nullptr})
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
