#include "models/encodings/fire.h"

#include <ATen/ATen.h>

#include <cmath>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

constexpr double kEpsilon = 1e-6;

class Fire : public Encoding {
 public:
  Fire(FireOptions options, const std::optional<DapeOptions>& dape)
      : options_(options), hidden_(dape ? dape->hidden : options_.hidden), leaky_(dape.has_value()) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const double second = 1 / std::sqrt(static_cast<double>(hidden_));
    return {{"c", {}, Init::constant(0.1)},
            {"L_multiplier", {}, Init::constant(1)},
            {"fire.w1", {1, hidden_}, Init::uniform(-1, 1)},
            {"fire.b1", {hidden_}, Init::uniform(-1, 1)},
            {"fire.w2", {hidden_, shape.heads}, Init::uniform(-second, second)},
            {"fire.b2", {shape.heads}, Init::uniform(-second, second)}};
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const auto scalar = [&](const char* name) { return context.parameters[name].view({-1, 1, 1}); };
    const at::Tensor c = scalar("c");
    const auto logarithm = [](const at::Tensor& slope, const at::Tensor& x) {
      return at::log1p((slope * x).abs());
    };
    const auto psi = [&](const at::Tensor& x) { return by_replica(logarithm, c, x); };
    const at::Tensor least = (scalar("L_multiplier") * options_.length).abs();
    const auto normalizer = [&](const at::Tensor& largest) {
      return psi(at::maximum(largest, least)) + kEpsilon;
    };
    PairValues ratio = distance(context, options_.distance);
    const at::Tensor distances = ratio.values;  // (1, 1, pairs)
    ratio.values = psi(distances);              // (replicas, 1, pairs)
    if (draws_distances(context)) {
      // Found on the device, where a replayed step has distances of its own.
      ratio.values = ratio.values / normalizer(distances.amax(-1, /*keepdim=*/true));
    } else {
      // Both (replicas, queries, keys).
      const at::Tensor numerator = ratio.dense(context.queries(), context.tokens).squeeze(1);
      ratio = {(numerator / normalizer(largest_index(context))).flatten(1).unsqueeze(1), false};
    }
    // Pairs last, so that the result needs no transpose.
    const auto layer = [&](const char* w, const char* b, const at::Tensor& x) {
      return product(context.parameters[w].transpose(1, 2), x) + context.parameters[b].unsqueeze(2);
    };
    const at::Tensor hidden = layer("fire.w1", "fire.b1", ratio.values);
    const at::Tensor active = leaky_ ? at::leaky_relu(hidden, 0.01) : at::relu(hidden);
    return PairValues{layer("fire.w2", "fire.b2", active), ratio.by_offset};
  }

 private:
  // Whether distances have no tokens' positions behind them.
  bool draws_distances(const EncodingContext& context) const {
    return context.positions.draws_distances() &&
           options_.distance.randomized_distance == RandomizedDistance::kPerOffset;
  }

  // The distances of each pair are divided by this or by |L_m L_0|: broadcastable to (queries, keys).
  at::Tensor largest_index(const EncodingContext& context) const {
    const at::Tensor keys = context.token_positions();
    const at::Tensor queries = keys.slice(0, context.first_query).unsqueeze(1);
    const bool is_query = context.shape.causal || options_.normalizer == FireNormalizer::kQuery;
    return is_query ? queries : at::maximum(queries, keys.unsqueeze(0));
  }

  FireOptions options_;
  std::int64_t hidden_;
  bool leaky_;
};

const Registered<EncodingMaker> fire_maker{{"fire", make_encoding<Fire, FireOptions>}};

}  // namespace
}  // namespace che
