#include "models/encodings/fox.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

struct Fox : Encoding {
  FoxOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t gates = shape.causal ? shape.heads : 2 * shape.heads;
    const bool is_cable = options.start == FoxStart::kCable;
    return {{"fox.w", {shape.width, gates}, is_cable ? Init::normal(0.02) : Init::linear(shape.width)},
            {"fox.b", {gates}, Init::constant(is_cable ? 0 : 5)}};
  }

  // None without an input, as in a picture of an encoding.
  AttentionTerms attention_terms(const EncodingContext& context) const override {
    if (!context.input.defined()) return PairValues();
    const auto running_sums = [](const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
      return at::log_sigmoid(affine(x, w, b)).transpose(2, 3).cumsum(-1);
    };
    const at::Tensor sums =
        by_replica(running_sums, context.input, context.parameters["fox.w"], context.parameters["fox.b"]);
    return PairValues{{}, false, {}, sums.unflatten(2, {-1, context.shape.heads})};
  }
};

const Registered<EncodingMaker> fox_maker{{"fox", make_encoding<Fox>}};

}  // namespace
}  // namespace che
