#include "models/encodings/position_mlp.h"

#include <ATen/ATen.h>

#include <utility>

#include "models/encodings/encoding.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

struct PositionMlp : Encoding {
  PositionMlpOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t hidden = options.hidden;
    return {{"mlp.w1", {1, hidden}, Init::linear(1)},
            {"mlp.b1", {hidden}, Init::linear(1)},
            {"mlp.w2", {hidden, hidden}, Init::linear(hidden)},
            {"mlp.b2", {hidden}, Init::linear(hidden)},
            {"mlp.w3", {hidden, shape.heads}, Init::linear(hidden)},
            {"mlp.b3", {shape.heads}, Init::linear(hidden)}};
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const PairValues distances = signed_distance(context, options.randomized_distance);
    const at::Tensor& r = distances.values;
    const ParameterView& own = context.parameters;
    at::Tensor x = -r.sign() * r.abs().log1p();
    for (const auto& [w, b] : {std::pair("mlp.w1", "mlp.b1"), {"mlp.w2", "mlp.b2"}}) {
      x = by_replica([](const at::Tensor& y) { return at::silu(y); }, affine_in_front(x, own[w], own[b]));
    }
    return PairValues{affine_in_front(x, own["mlp.w3"], own["mlp.b3"]), distances.by_offset};
  }
};

const Registered<EncodingMaker> position_mlp_maker{{"position_mlp", make_encoding<PositionMlp>}};

}  // namespace
}  // namespace che
