#include "models/encodings/selective_rope.h"

#include <ATen/ATen.h>

#include "models/encodings/rotary.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"
#include "models/ops/rotation/rotation.h"

namespace che {
namespace {

constexpr std::int64_t kReach = 3;  // Tokens that the convolution reads on a side.

struct SelectiveRope : Encoding {
  SelectiveRopeOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t taps = shape.causal ? kReach + 1 : 2 * kReach + 1;
    const std::int64_t angles = shape.width / 2;
    return {{"phi.w1", {shape.width, options.rank}, Init::linear(shape.width)},
            {"phi.w2", {options.rank, angles}, Init::linear(options.rank)},
            {"phi.taps", {taps, angles}, Init::linear(taps)}};
  }

  at::Tensor rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const override {
    const std::int64_t pairs = heads.size(4) / 2;
    const at::Tensor tau = context.table(
        "selective_rope", [width = heads.size(4)] { return rotary_frequencies(width, 500000); });
    const auto angles = [&](const at::Tensor& x, const at::Tensor& w1, const at::Tensor& w2,
                            const at::Tensor& taps) {
      const at::Tensor by_head = x.unflatten(3, {heads.size(3), heads.size(4)});
      const at::Tensor normal = by_head * (by_head.square().sum(-1, /*keepdim=*/true) + 1e-6).rsqrt();
      const at::Tensor low = affine(normal.flatten(3), w1);
      const std::int64_t ahead = taps.size(1) - 1 - kReach;
      const at::Tensor near =
          at::constant_pad_nd(low, {0, 0, kReach, ahead}).unfold(2, taps.size(1), 1).flatten(3);
      // The convolution of each angle and the map to it are one map of all features nearby.
      const at::Tensor of_near = (w2.unsqueeze(2) * taps.unsqueeze(1)).flatten(1, 2);
      return affine(near, of_near).cumsum(2).unflatten(3, {-1, pairs}) * tau;
    };
    // (replicas, batch, tokens, heads, pairs)
    const at::Tensor turned = by_replica(angles, context.input, context.parameters["phi.w1"],
                                         context.parameters["phi.w2"], context.parameters["phi.taps"])
                                  .slice(2, context.first_token(operand));
    const at::Tensor sine = by_replica([](const at::Tensor& x) { return x.sin(); }, turned);
    const at::Tensor cosine = by_replica([](const at::Tensor& x) { return x.cos(); }, turned);
    return reference::rotate(heads, sine, cosine);
  }
};

const Registered<EncodingMaker> selective_rope_maker{{"selective_rope", make_encoding<SelectiveRope>}};

}  // namespace
}  // namespace che
