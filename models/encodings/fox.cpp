#include "models/encodings/fox.h"

#include <ATen/ATen.h>

#include <cmath>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

class Fox : public Encoding {
 public:
  explicit Fox(FoxOptions options) : options_(options) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t gates = shape.causal ? shape.heads : 2 * shape.heads;
    const double bound = 1 / std::sqrt(static_cast<double>(shape.width));
    const bool is_cable = options_.start == FoxStart::kCable;
    return {{"fox.w", {shape.width, gates}, is_cable ? Init::normal(0.02) : Init::uniform(-bound, bound)},
            {"fox.b", {gates}, Init::constant(is_cable ? 0 : 5)}};
  }

  // None without an input, as in a picture of an encoding.
  AttentionTerms attention_terms(const EncodingContext& context) const override {
    if (!context.input.defined()) return PairValues();
    const auto running_sums = [](const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
      const at::Tensor gates = product(x.flatten(1, 2), w) + b.unsqueeze(1);
      return at::log_sigmoid(gates).view({x.size(0), x.size(1), x.size(2), -1}).transpose(2, 3).cumsum(-1);
    };
    // (replicas, batch, heads or 2 heads, tokens)
    const at::Tensor sums =
        by_replica(running_sums, context.input, context.parameters["fox.w"], context.parameters["fox.b"]);
    const std::int64_t heads = context.shape.heads;
    const auto later_minus_earlier = [&](std::int64_t first_gate, bool is_query_later) {
      const at::Tensor of_side = sums.narrow(2, first_gate, heads);
      const at::Tensor queries = of_side.slice(3, context.first_query).unsqueeze(4);
      const at::Tensor keys = of_side.unsqueeze(3);
      return is_query_later ? queries - keys : keys - queries;
    };
    const at::Tensor left = later_minus_earlier(0, true);
    if (context.shape.causal) return PairValues{left.flatten(3), false};
    const at::Tensor index = at::arange(context.tokens, sums.options().dtype(at::kLong));
    const at::Tensor is_left = index.unsqueeze(0) <= index.slice(0, context.first_query).unsqueeze(1);
    return PairValues{at::where(is_left, left, later_minus_earlier(heads, false)).flatten(3), false};
  }

 private:
  FoxOptions options_;
};

const Registered<EncodingMaker> fox_maker{{"fox", make_encoding<Fox, FoxOptions>}};

}  // namespace
}  // namespace che
