#include "models/encodings/cope.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/attention/attention_terms.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

constexpr std::int64_t kPositions = 64;

// p_ij, (replicas, batch, heads, queries, keys). Each side sums its own gates from the query
// outwards: differences of one running sum lose digits over long sequences.
at::Tensor contextual_positions(const at::Tensor& gates, const at::Tensor& right) {
  // The query itself counts on both sides.
  const at::Tensor outward = gates.masked_fill(right, 0).flip(-1).cumsum(-1).flip(-1);
  const at::Tensor own = right.logical_not().sum(-1, /*keepdim=*/true) - 1;  // Key index of each query.
  const at::Tensor first = gates.gather(-1, own.expand({gates.size(0), gates.size(1), gates.size(2), -1, 1}));
  return at::where(right, gates.masked_fill(right.logical_not(), 0).cumsum(-1) + first, outward)
      .clamp_max(kPositions - 1);
}

class Cope : public Encoding {
 public:
  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::vector<std::int64_t> table{shape.head_width(), kPositions};
    return {{"e_left", table, Init::constant(0)}, {"e_right", table, Init::constant(0)}};
  }

  // A logit reads those of its neighbours.
  AttentionTerms attention_terms(const EncodingContext& context) const override {
    return CustomLogits{[context](const at::Tensor& scaled, const at::Tensor& q, const at::Tensor&) {
      const auto of_replica = [&](const at::Tensor& part, const at::Tensor& queries, const at::Tensor& left,
                                  const at::Tensor& right) {
        return logits(part, queries, left, right, context);
      };
      return by_replica(of_replica, scaled, q, context.parameters["e_left"], context.parameters["e_right"]);
    }};
  }

 private:
  // Computes some replicas, whose tables are (replicas, head_width, 64).
  static at::Tensor logits(const at::Tensor& logits, const at::Tensor& queries, const at::Tensor& e_left,
                           const at::Tensor& e_right, const EncodingContext& context) {
    const at::Tensor index = at::arange(context.tokens, context.backend.options.dtype(at::kLong));
    const at::Tensor right = index.unsqueeze(0) > index.slice(0, context.first_query).unsqueeze(1);
    const at::Tensor positions = contextual_positions(at::sigmoid(logits), right);
    // (replicas, 1, 1, head_width, 2 * 64): the left table, then the right one.
    const at::Tensor tables = at::cat({e_left, e_right}, 2).unsqueeze(1).unsqueeze(1);
    const at::Tensor at_integers = product(queries, tables);
    const at::Tensor below = positions.detach().floor();
    const at::Tensor fraction = positions - below;
    const at::Tensor floor_index = below.to(at::kLong) + kPositions * right.to(at::kLong);
    // ceil is floor + 1 where there is a fraction.
    const at::Tensor ceil_index = floor_index + fraction.gt(0).to(at::kLong);
    return logits +
           at::lerp(at_integers.gather(-1, floor_index), at_integers.gather(-1, ceil_index), fraction);
  }
};

const Registered<EncodingMaker> cope_maker{{"cope", make_encoding<Cope, NoOptions>}};

}  // namespace
}  // namespace che
