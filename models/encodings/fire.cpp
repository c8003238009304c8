#include "models/encodings/fire.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "models/encodings/encoding.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

constexpr double kEpsilon = 1e-6;

struct Fire : Encoding {
  FireOptions options;
  std::optional<DapeOptions> dape;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t hidden = dape ? dape->hidden : options.hidden;
    return {{"c", {}, Init::constant(0.1)},
            {"L_multiplier", {}, Init::constant(1)},
            {"fire.w1", {1, hidden}, Init::linear(1)},
            {"fire.b1", {hidden}, Init::linear(1)},
            {"fire.w2", {hidden, shape.heads}, Init::linear(hidden)},
            {"fire.b2", {shape.heads}, Init::linear(hidden)}};
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const auto scalar = [&](const char* name) { return context.parameters[name].view({-1, 1, 1}); };
    const at::Tensor c = scalar("c");
    const auto logarithm = [](const at::Tensor& slope, const at::Tensor& x) {
      return at::log1p((slope * x).abs());
    };
    const auto psi = [&](const at::Tensor& x) { return by_replica(logarithm, c, x); };
    const at::Tensor least = (scalar("L_multiplier") * options.length).abs();
    const auto normalizer = [&](const at::Tensor& largest) {
      return psi(at::maximum(largest, least)) + kEpsilon;
    };
    const PairValues distances = distance(context, options.distance);         // (1, 1, pairs)
    const PairValues numerators{psi(distances.values), distances.by_offset};  // (replicas, 1, pairs)
    if (draws_distances(context)) {
      // Found on the device, where a replayed step has distances of its own.
      const at::Tensor largest = distances.values.amax(-1, /*keepdim=*/true);
      return PairValues{network(numerators.values / normalizer(largest), context), distances.by_offset};
    }
    const at::Tensor denominators = normalizer(largest_index(context));  // (replicas, queries, keys or 1)
    const auto compute = [this, context, numerators, denominators](std::int64_t first, std::int64_t count,
                                                                   std::int64_t keys) {
      const at::Tensor numerator =
          numerators.part(context.queries(), context.tokens, first, count, keys).squeeze(1);
      const bool has_all = count == context.queries() && keys == context.tokens;
      const at::Tensor denominator =
          has_all ? denominators : denominators.narrow(1, first, count).slice(2, 0, keys);
      return network((numerator / denominator).flatten(1).unsqueeze(1), context);
    };
    // Fewer tokens have their values at once, with the bits that stored results have.
    constexpr std::int64_t kMostDense = 2048;
    if (context.tokens > kMostDense && !c10::GradMode::is_enabled()) return PairValues{{}, false, compute};
    return PairValues{compute(0, context.queries(), context.tokens), false};
  }

 private:
  // FIRE's MLP of ratios (replicas, 1, pairs).
  at::Tensor network(const at::Tensor& ratios, const EncodingContext& context) const {
    const ParameterView& own = context.parameters;
    const at::Tensor hidden = affine_in_front(ratios, own["fire.w1"], own["fire.b1"]);
    return affine_in_front(dape ? at::leaky_relu(hidden, 0.01) : at::relu(hidden), own["fire.w2"],
                           own["fire.b2"]);
  }

  // Whether distances have no tokens' positions behind them.
  bool draws_distances(const EncodingContext& context) const {
    return context.positions.draws_distances() &&
           options.distance.randomized_distance == RandomizedDistance::kPerOffset;
  }

  // The distances of each pair are divided by this or by |L_m L_0|: broadcastable to (queries, keys).
  at::Tensor largest_index(const EncodingContext& context) const {
    const at::Tensor keys = context.token_positions();
    const at::Tensor queries = keys.slice(0, context.first_query).unsqueeze(1);
    const bool is_query = context.shape.causal || options.normalizer == FireNormalizer::kQuery;
    return is_query ? queries : at::maximum(queries, keys.unsqueeze(0));
  }
};

const Registered<EncodingMaker> fire_maker{{"fire", make_encoding<Fire>}};

}  // namespace
}  // namespace che
