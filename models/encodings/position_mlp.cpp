#include "models/encodings/position_mlp.h"

#include <ATen/ATen.h>

#include <cmath>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

class PositionMlp : public Encoding {
 public:
  explicit PositionMlp(PositionMlpOptions options) : options_(options) {}

  // As PyTorch's linear layers start.
  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t hidden = options_.hidden;
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    return {{"mlp.w1", {1, hidden}, Init::uniform(-1, 1)},
            {"mlp.b1", {hidden}, Init::uniform(-1, 1)},
            {"mlp.w2", {hidden, hidden}, Init::uniform(-bound, bound)},
            {"mlp.b2", {hidden}, Init::uniform(-bound, bound)},
            {"mlp.w3", {hidden, shape.heads}, Init::uniform(-bound, bound)},
            {"mlp.b3", {shape.heads}, Init::uniform(-bound, bound)}};
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const PairValues distances = signed_distance(context, options_.randomized_distance);
    const at::Tensor& r = distances.values;
    // Pairs last, so that the result needs no transpose.
    const auto layer = [&](const char* w, const char* b, const at::Tensor& x) {
      return product(context.parameters[w].transpose(1, 2), x) + context.parameters[b].unsqueeze(2);
    };
    const auto silu = [](const at::Tensor& x) {
      return by_replica([](const auto& y) { return at::silu(y); }, x);
    };
    const at::Tensor first = silu(layer("mlp.w1", "mlp.b1", -r.sign() * r.abs().log1p()));
    const at::Tensor second = silu(layer("mlp.w2", "mlp.b2", first));
    return PairValues{layer("mlp.w3", "mlp.b3", second), distances.by_offset};
  }

 private:
  PositionMlpOptions options_;
};

const Registered<EncodingMaker> position_mlp_maker{
    {"position_mlp", make_encoding<PositionMlp, PositionMlpOptions>}};

}  // namespace
}  // namespace che
