#include "models/encodings/kerple.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"

namespace che {
namespace {

class Kerple : public Encoding {
 public:
  explicit Kerple(KerpleOptions options) : options_(options) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    return {{"p", {shape.heads}, Init::uniform(0, 2)}, {"a", {shape.heads}, Init::uniform(0, 1)}};
  }

  // As released: clamped in place before each forward pass, so that the gradient is not cut. The kernel of a
  // power above 2 is not conditionally positive definite.
  void project(const ParameterView& parameters) const override {
    if (options_.kind == KerpleKind::kPower) {
      parameters["p"].data().clamp_(0.01, 2);
    } else {
      parameters["p"].data().clamp_min_(0.01);
    }
    parameters["a"].data().clamp_min_(0.01);
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const at::Tensor p = context.parameters["p"].view({-1, heads, 1});
    const at::Tensor a = context.parameters["a"].view({-1, heads, 1});
    const PairValues distances = distance(context, options_.distance);
    const auto logarithm = [](const at::Tensor& factor, const at::Tensor& slope, const at::Tensor& distance) {
      return -factor * at::log1p(slope * distance);
    };
    const auto power = [](const at::Tensor& exponent, const at::Tensor& factor, const at::Tensor& distance) {
      return -factor * at::pow(distance, exponent);
    };
    if (options_.kind == KerpleKind::kPower) {
      return PairValues{by_replica(power, p, a, distances.values), distances.by_offset};
    }
    return PairValues{by_replica(logarithm, p, a, distances.values), distances.by_offset};
  }

 private:
  KerpleOptions options_;
};

const Registered<EncodingMaker> kerple_maker{{"kerple", make_encoding<Kerple, KerpleOptions>}};

}  // namespace
}  // namespace che
