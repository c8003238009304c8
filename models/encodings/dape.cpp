#include "models/encodings/dape.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace che {
namespace {

bool concatenates(std::string_view variant) { return variant.starts_with("concat"); }

bool keeps_bias(std::string_view variant) { return variant.ends_with("_residual"); }

// x (replicas, n..., in) times w (replicas, in, out).
at::Tensor project_last(const at::Tensor& x, const at::Tensor& w) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = w.size(2);
  return at::bmm(x.reshape({x.size(0), -1, x.size(-1)}), w).view(shape);
}

// A layer of f without its bias: x (replicas, batch, queries, keys, in) and w as in DapeMlp.
at::Tensor apply_layer(const at::Tensor& x, const at::Tensor& w) {
  if (w.dim() == 3) return project_last(x, w);
  at::Tensor sum;
  for (std::int64_t tap = 0; tap < w.size(1); ++tap) {
    const std::int64_t shift = tap - w.size(1) / 2;  // Key j reads key j + shift.
    const at::Tensor term = at::constant_pad_nd(project_last(x, w.select(1, tap)), {0, 0, -shift, shift});
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

// Inputs `first` .. `first` + `count` - 1 of a layer.
at::Tensor inputs_of(const at::Tensor& w, std::int64_t first, std::int64_t count) {
  return w.narrow(w.dim() - 2, first, count);
}

DapeMlp mlp_of(const EncodingPlace& place) {
  return {place.parameters["dape.w1"], place.parameters["dape.b1"], place.parameters["dape.w2"],
          place.parameters["dape.b2"]};
}

}  // namespace

Dape::Dape(std::unique_ptr<Encoding> base, DapeOptions options)
    : base_(std::move(base)), options_(std::move(options)) {}

std::vector<ParameterSpec> Dape::embedding_parameters(const ModelShape& shape) const {
  return base_->embedding_parameters(shape);
}

std::vector<ParameterSpec> Dape::layer_parameters(const ModelShape& shape) const {
  const std::int64_t inputs = concatenates(options_.variant) ? 2 * shape.heads : shape.heads;
  const double first = 1 / std::sqrt(static_cast<double>(inputs * options_.taps()));
  const double second = 1 / std::sqrt(static_cast<double>(options_.hidden * options_.taps()));
  const auto weights = [&](std::int64_t in, std::int64_t out) -> std::vector<std::int64_t> {
    if (options_.taps() == 1) return {in, out};
    return {options_.taps(), in, out};
  };
  std::vector<ParameterSpec> specs = base_->layer_parameters(shape);
  specs.push_back({"dape.w1", weights(inputs, options_.hidden), Init::uniform(-first, first)});
  specs.push_back({"dape.b1", {options_.hidden}, Init::uniform(-first, first)});
  specs.push_back({"dape.w2", weights(options_.hidden, shape.heads), Init::uniform(-second, second)});
  specs.push_back({"dape.b2", {shape.heads}, Init::uniform(-second, second)});
  return specs;
}

void Dape::project(const ParameterView& parameters) const { base_->project(parameters); }

PairValues Dape::bias(const EncodingPlace& place, std::int64_t heads) const {
  return base_->bias(place, heads);
}

at::Tensor Dape::logits(const at::Tensor& logits, const at::Tensor&, const at::Tensor&,
                        const EncodingPlace& place) const {
  return dape_logits(logits, bias(place, logits.size(2)).dense(place.queries(), place.tokens), mlp_of(place),
                     options_.variant);
}

std::optional<PairTerms> Dape::pair_terms(const EncodingPlace& place, std::int64_t heads) const {
  if (options_.taps() != 1) return std::nullopt;
  const DapeMlp f = mlp_of(place);
  PairValues b = bias(place, heads);
  if (options_.variant.starts_with("bias_only")) {
    // f(B) is an additive bias itself. Pairs last, so that it needs no transpose.
    const auto layer = [](const at::Tensor& w, const at::Tensor& b1, const at::Tensor& x) {
      return at::matmul(w.transpose(1, 2), x) + b1.unsqueeze(2);
    };
    const at::Tensor adapted = layer(f.w2, f.b2, at::leaky_relu(layer(f.w1, f.b1, b.values), 0.01));
    b.values = keeps_bias(options_.variant) ? b.values + adapted : adapted;
    return PairTerms{b};
  }
  const bool concat = concatenates(options_.variant);
  return PairTerms{
      b, keeps_bias(options_.variant),
      PairMlp{inputs_of(f.w1, 0, heads), inputs_of(f.w1, concat ? heads : 0, heads), f.b1, f.w2, f.b2}};
}

std::optional<EncodingTable> Dape::table(const EncodingPlace&, const ModelShape&) const {
  return std::nullopt;
}

double Dape::working_values_per_pair(const ModelShape& shape) const {
  // The base holds its own before f starts. f's hidden layer is there four times while it is summed,
  // and once more while a tap is shifted.
  const std::int64_t copies = options_.taps() == 1 ? 4 : 5;
  return std::max(base_->working_values_per_pair(shape),
                  static_cast<double>(4 * shape.heads + copies * options_.hidden));
}

double Dape::bias_values_per_pair(const ModelShape& shape) const {
  // f of the bias alone passes through a hidden layer.
  const std::int64_t copies = options_.variant.starts_with("bias_only") ? 4 : 0;
  return std::max(base_->bias_values_per_pair(shape),
                  static_cast<double>(4 * shape.heads + copies * options_.hidden));
}

at::Tensor dape_logits(const at::Tensor& logits, const at::Tensor& bias, const DapeMlp& mlp,
                       std::string_view variant) {
  const std::int64_t replicas = logits.size(0);
  const std::int64_t heads = logits.size(2);
  // Heads last, for the MLP.
  const at::Tensor a = logits.permute({0, 1, 3, 4, 2});  // (r, b, q, k, h)
  const at::Tensor b =
      bias.permute({0, 2, 3, 1}).unsqueeze(1).expand({replicas, -1, -1, -1, -1});  // (r, 1, q, k, h)
  const at::Tensor bias1 = mlp.b1.view({replicas, 1, 1, 1, -1});

  at::Tensor hidden;  // (r, b or 1, q, k, hidden)
  if (concatenates(variant)) {
    // W1 [A; B] + b1 in two products, because B is the same for the whole batch.
    hidden = apply_layer(a, inputs_of(mlp.w1, 0, heads)) +
             (apply_layer(b, inputs_of(mlp.w1, heads, heads)) + bias1);
  } else if (variant.starts_with("add")) {
    hidden = apply_layer(a + b, mlp.w1) + bias1;
  } else {
    hidden = apply_layer(b, mlp.w1) + bias1;
  }
  const at::Tensor f =
      (apply_layer(at::leaky_relu(hidden, 0.01), mlp.w2) + mlp.b2.view({replicas, 1, 1, 1, -1}))
          .permute({0, 1, 4, 2, 3});
  return keeps_bias(variant) ? logits + bias.unsqueeze(1) + f : logits + f;
}

}  // namespace che
