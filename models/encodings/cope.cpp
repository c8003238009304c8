#include "models/encodings/cope.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

constexpr std::int64_t kPositions = 64;

// p_ij of keys up to the query, 0 for others, (replicas, batch, heads, queries, keys). Each side sums its own
// gates from the query outwards: differences of one running sum lose digits over long sequences.
at::Tensor positions_to_the_left(const at::Tensor& gates, const at::Tensor& right) {
  return gates.masked_fill(right, 0).flip(-1).cumsum(-1).flip(-1);
}

// p_ij of all keys.
at::Tensor positions_of_both_sides(const at::Tensor& gates, const at::Tensor& right) {
  // The query itself counts on both sides.
  const at::Tensor own = right.logical_not().sum(-1, /*keepdim=*/true) - 1;  // Key index of each query.
  const at::Tensor first = gates.gather(-1, own.expand({gates.size(0), gates.size(1), gates.size(2), -1, 1}));
  return at::where(right, gates.masked_fill(right.logical_not(), 0).cumsum(-1) + first,
                   positions_to_the_left(gates, right));
}

class Cope : public Encoding {
 public:
  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::vector<std::int64_t> table{shape.head_width(), kPositions};
    if (shape.causal) return {{"e_left", table, Init::constant(0)}};
    return {{"e_left", table, Init::constant(0)}, {"e_right", table, Init::constant(0)}};
  }

  // A logit reads those of its neighbours.
  AttentionTerms attention_terms(const EncodingContext& context) const override {
    return CustomLogits{[context](const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k) {
      const EncodingContext of_queries = context.of_queries(k.size(3), q.size(3));
      const auto of_replica = [&](const at::Tensor& part, const at::Tensor& queries,
                                  const at::Tensor& tables) {
        return logits(part, queries, tables, of_queries);
      };
      const at::Tensor& left = context.parameters["e_left"];
      return by_replica(of_replica, scaled, q,
                        context.shape.causal ? left : at::cat({left, context.parameters["e_right"]}, 2));
    }};
  }

 private:
  // Computes some replicas. `tables` has E_left, and beside it E_right where there is one: (replicas,
  // head_width, 64 or 128).
  static at::Tensor logits(const at::Tensor& logits, const at::Tensor& queries, const at::Tensor& tables,
                           const EncodingContext& context) {
    const at::Tensor index = at::arange(context.tokens, context.backend.options.dtype(at::kLong));
    const at::Tensor right = index.unsqueeze(0) > index.slice(0, context.first_query).unsqueeze(1);
    const at::Tensor gates = at::sigmoid(logits);
    const at::Tensor positions =
        (context.shape.causal ? positions_to_the_left(gates, right) : positions_of_both_sides(gates, right))
            .clamp_max(kPositions - 1);
    const at::Tensor at_integers = product(queries, tables.unsqueeze(1).unsqueeze(1));
    const at::Tensor below = positions.detach().nan_to_num().floor();
    const at::Tensor fraction = positions - below;
    at::Tensor floor_index = below.to(at::kLong);
    if (!context.shape.causal) floor_index = floor_index + kPositions * right.to(at::kLong);
    // ceil is floor + 1 where there is a fraction.
    const at::Tensor ceil_index = floor_index + fraction.gt(0).to(at::kLong);
    return logits +
           at::lerp(at_integers.gather(-1, floor_index), at_integers.gather(-1, ceil_index), fraction);
  }
};

const Registered<EncodingMaker> cope_maker{{"cope", make_encoding<Cope>}};

}  // namespace
}  // namespace che
