#include "models/encodings/kerple.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/by_replica.h"

namespace che {
namespace {

struct Kerple : Encoding {
  KerpleOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    return {{"p", {shape.heads}, Init::uniform(0, 2)}, {"a", {shape.heads}, Init::uniform(0, 1)}};
  }

  // As released: clamped in place before each forward pass, so that the gradient is not cut. The kernel of a
  // power above 2 is not conditionally positive definite.
  void project(const ParameterView& parameters) const override {
    parameters["p"].data().clamp_min_(0.01);
    if (options.kind == KerpleKind::kPower) parameters["p"].data().clamp_max_(2);
    parameters["a"].data().clamp_min_(0.01);
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const at::Tensor p = context.parameters["p"].view({-1, heads, 1});
    const at::Tensor a = context.parameters["a"].view({-1, heads, 1});
    const PairValues distances = distance(context, options.distance);
    const auto bias = [is_power = options.kind == KerpleKind::kPower](
                          const at::Tensor& exponent, const at::Tensor& slope, const at::Tensor& r) {
      return is_power ? -slope * at::pow(r, exponent) : -exponent * at::log1p(slope * r);
    };
    return PairValues{by_replica(bias, p, a, distances.values), distances.by_offset};
  }
};

const Registered<EncodingMaker> kerple_maker{{"kerple", make_encoding<Kerple>}};

}  // namespace
}  // namespace che
