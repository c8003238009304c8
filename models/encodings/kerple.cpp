#include "models/encodings/kerple.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"

namespace che {
namespace {

class Kerple : public Encoding {
 public:
  explicit Kerple(DistanceOptions options) : options_(options) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    return {{"p", {shape.heads}, Init::uniform(0, 2)}, {"a", {shape.heads}, Init::uniform(0, 1)}};
  }

  // As released: clamped in place before each forward pass, so that the gradient is not cut.
  void project(const ParameterView& parameters) const override {
    parameters["p"].data().clamp_min_(0.01);
    parameters["a"].data().clamp_min_(0.01);
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const at::Tensor p = context.parameters["p"].view({-1, heads, 1});
    const at::Tensor a = context.parameters["a"].view({-1, heads, 1});
    const PairValues distances = distance(context, options_);
    const auto bias = [](const at::Tensor& factor, const at::Tensor& slope, const at::Tensor& distance) {
      return -factor * at::log1p(slope * distance);
    };
    return PairValues{by_replica(bias, p, a, distances.values), distances.by_offset};
  }

 private:
  DistanceOptions options_;
};

const Registered<EncodingMaker> kerple_maker{{"kerple", make_encoding<Kerple, DistanceOptions>}};

}  // namespace
}  // namespace che
