#include "models/kernels/attention.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "core/error.h"
#include "models/kernels/attention_simd.h"
#include "models/kernels/fused_use.h"
#include "models/kernels/pieces.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kMostHeads = 16;
constexpr std::int64_t kPiecesOfReplica = 8;
// Without gradients, (example, tile of queries) pairs in pieces for several threads.
constexpr std::int64_t kMostPieces = 64;

std::int64_t padded_heads(std::int64_t heads) {
  return std::max<std::int64_t>(2,
                                static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(heads))));
}

// PairValues with queries last, padded to whole tiles. By offset: (replicas, rows, 2 T - 1 and padding),
// reversed, so that neighbouring queries read neighbouring values. By pair: (replicas, keys, rows,
// queries), so that what is read together lies together.
at::Tensor laid_out(const PairValues& pairs, std::int64_t replicas, std::int64_t queries, std::int64_t keys) {
  if (!pairs.defined()) return {};
  const at::Tensor values =
      (pairs.by_offset ? at::constant_pad_nd(pairs.values.flip(2), {0, kQueryTile})
                       : at::constant_pad_nd(pairs.dense(queries, keys).permute({0, 3, 1, 2}),
                                             {0, padded_queries(queries) - queries}))
          .contiguous();
  std::vector<std::int64_t> shape = values.sizes().vec();
  shape.front() = replicas;
  return values.expand(shape);
}

// A replica's part of laid_out().
template <class Value>
PairTable<Value> table_of(const at::Tensor& values, std::int64_t replica, std::int64_t queries,
                          std::int64_t keys) {
  if (!values.defined()) return {};
  Value* const data = values.mutable_data_ptr<float>() + replica * values.stride(0);
  // By offset, the first query, number T - queries of the tokens, meets key 0 at T - queries + T - 1.
  if (values.dim() == 3) return {data + 2 * keys - queries - 1, values.stride(1), -1};
  return {data, values.stride(2), values.stride(1)};
}

// f's tensors, laid out for the kernels.
struct LaidOutMlp {
  at::Tensor weights;      // (replicas, hidden, {w1, w2}, heads padded)
  at::Tensor b2;           // (replicas, heads padded)
  at::Tensor hidden_bias;  // laid_out()
};

// Without its hidden bias.
LaidOutMlp laid_out(const PairMlp& mlp) {
  const std::int64_t padding = padded_heads(mlp.w2.size(2)) - mlp.w2.size(2);
  return {
      at::constant_pad_nd(at::stack({mlp.w1_logits.transpose(1, 2), mlp.w2}, 2), {0, padding}).contiguous(),
      at::constant_pad_nd(mlp.b2, {0, padding}).contiguous(), at::Tensor()};
}

// w1_bias B + b1
PairValues hidden_bias(const PairMlp& mlp, const PairValues& bias) {
  return {at::matmul(mlp.w1_bias.transpose(1, 2), bias.values) + mlp.b1.unsqueeze(2), bias.by_offset};
}

// What the kernels read, by replica and example.
class Operands {
 public:
  Operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& bias,
           const LaidOutMlp& mlp)
      : q_(q), k_(k), v_(v), bias_(bias), mlp_(mlp) {
    for (std::int64_t r = 0; mlp.weights.defined() && r < replicas(); ++r) {
      mlps_.push_back({.hidden = mlp.weights.size(1),
                       .heads = mlp.weights.size(3),
                       .weights = mlp.weights.const_data_ptr<float>() + r * mlp.weights.stride(0),
                       .b2 = mlp.b2.const_data_ptr<float>() + r * mlp.b2.stride(0),
                       .hidden_bias = table_of<const float>(mlp.hidden_bias, r, queries(), keys())});
    }
  }

  std::int64_t replicas() const { return q_.size(0); }
  std::int64_t batch() const { return q_.size(1); }
  std::int64_t queries() const { return q_.size(2); }
  std::int64_t keys() const { return k_.size(2); }
  std::int64_t heads() const { return q_.size(3); }

  AttentionExample example(std::int64_t r, std::int64_t b) const {
    return {.heads = heads(),
            .head_width = q_.size(4),
            .queries = queries(),
            .keys = keys(),
            .q = example_of(q_, r, b),
            .k = example_of(k_, r, b),
            .v = example_of(v_, r, b),
            .bias = table_of<const float>(bias_, r, queries(), keys()),
            .mlp = mlps_.empty() ? nullptr : &mlps_[static_cast<std::size_t>(r)]};
  }

  // An example's part of a (replicas, batch or pieces, ...) tensor.
  static float* example_of(const at::Tensor& values, std::int64_t r, std::int64_t b) {
    return values.mutable_data_ptr<float>() + r * values.stride(0) + b * values.stride(1);
  }

 private:
  at::Tensor q_, k_, v_, bias_;
  LaidOutMlp mlp_;
  std::vector<PairMlpWeights> mlps_;
};

class Attention : public torch::autograd::Function<Attention> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const std::optional<at::Tensor>& bias,
                            const std::optional<at::Tensor>& mlp_weights,
                            const std::optional<at::Tensor>& mlp_b2,
                            const std::optional<at::Tensor>& mlp_hidden_bias) {
    const LaidOutMlp mlp{mlp_weights.value_or(at::Tensor()), mlp_b2.value_or(at::Tensor()),
                         mlp_hidden_bias.value_or(at::Tensor())};
    const Operands operands(q, k, v, bias.value_or(at::Tensor()), mlp);
    const std::int64_t stride = padded_queries(operands.queries());
    const at::Tensor out = at::empty(q.sizes(), q.options());
    const at::Tensor weights = at::empty(
        {operands.replicas(), operands.batch(), operands.heads(), operands.keys(), stride}, q.options());
    for (std::int64_t r = 0; r < operands.replicas(); ++r) {
      Pieces{operands.batch(), kPiecesOfReplica}.for_each([&](std::int64_t, std::int64_t b) {
        for (std::int64_t first = 0; first < operands.queries(); first += kQueryTile) {
          attention_forward_tile(operands.example(r, b), first, Operands::example_of(weights, r, b) + first,
                                 stride, Operands::example_of(out, r, b));
        }
      });
    }
    context->save_for_backward(
        {q, k, v, bias.value_or(at::Tensor()), mlp.weights, mlp.b2, mlp.hidden_bias, weights});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    RECORD_FUNCTION("che::attention", {});
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &bias = saved[3], &weights = saved[7];
    const LaidOutMlp mlp{saved[4], saved[5], saved[6]};
    const Operands operands(q, k, v, bias, mlp);
    const std::int64_t replicas = operands.replicas();
    const Pieces examples{operands.batch(), kPiecesOfReplica};
    const at::Tensor d_out = gradients[0].contiguous();
    const at::Tensor d_q = at::empty(q.sizes(), q.options());
    const at::Tensor d_k = at::empty(k.sizes(), k.options());
    const at::Tensor d_v = at::empty(v.sizes(), v.options());
    // Of what examples share: one sum a piece, (replicas, pieces, ...).
    const auto sums = [&](const at::Tensor& shared, bool by_lane) {
      if (!shared.defined()) return at::Tensor();
      std::vector<std::int64_t> shape{replicas, examples.count()};
      shape.insert(shape.end(), shared.sizes().begin() + 1, shared.sizes().end());
      if (by_lane) shape.push_back(kQueryTile);
      return at::zeros(shape, q.options());
    };
    const at::Tensor d_bias =
        bias.defined() && context->needs_input_grad(3) ? sums(bias, false) : at::Tensor();
    const at::Tensor d_weights = sums(mlp.weights, true);
    const at::Tensor d_b2 = sums(mlp.b2, true);
    const at::Tensor d_hidden_bias = sums(mlp.hidden_bias, false);
    const auto of_piece = [&](const at::Tensor& values, std::int64_t r, std::int64_t piece) {
      return values.defined()
                 ? table_of<float>(values.select(0, r), piece, operands.queries(), operands.keys())
                 : PairTable<float>();
    };
    for (std::int64_t r = 0; r < replicas; ++r) {
      examples.for_each([&](std::int64_t piece, std::int64_t b) {
        AttentionGradients out{.d_q = Operands::example_of(d_q, r, b),
                               .d_k = Operands::example_of(d_k, r, b),
                               .d_v = Operands::example_of(d_v, r, b),
                               .d_bias = of_piece(d_bias, r, piece),
                               .d_hidden_bias = {}};
        if (d_weights.defined()) {
          out.d_weights = Operands::example_of(d_weights, r, piece);
          out.d_b2 = Operands::example_of(d_b2, r, piece);
          out.d_hidden_bias = of_piece(d_hidden_bias, r, piece);
        }
        attention_backward(operands.example(r, b), Operands::example_of(weights, r, b),
                           Operands::example_of(d_out, r, b), out);
      });
    }
    const auto total = [](const at::Tensor& sum) { return sum.defined() ? sum.sum(1) : sum; };
    const auto total_of_lanes = [](const at::Tensor& sum) { return sum.defined() ? sum.sum({1, -1}) : sum; };
    return {
        d_q, d_k, d_v, total(d_bias), total_of_lanes(d_weights), total_of_lanes(d_b2), total(d_hidden_bias)};
  }
};

// Queries first .. first + count - 1 of `pairs`.
PairValues of_queries(const PairValues& pairs, std::int64_t queries, std::int64_t keys, std::int64_t first,
                      std::int64_t count) {
  if (!pairs.defined() || pairs.by_offset) return pairs;
  return {pairs.dense(queries, keys).narrow(2, first, count).flatten(2), false};
}

// Without gradients.
void attend(const Operands& operands, const at::Tensor& out) {
  const std::int64_t tiles = padded_queries(operands.queries()) / kQueryTile;
  const auto values = static_cast<std::size_t>(operands.heads() * operands.keys() * kQueryTile);
  const Pieces pieces{operands.replicas() * operands.batch() * tiles, kMostPieces};
  pieces.for_each_piece([&](std::int64_t begin, std::int64_t end) {
    std::vector<float> weights(values);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t r = item / tiles / operands.batch();
      const std::int64_t b = item / tiles % operands.batch();
      attention_forward_tile(operands.example(r, b), item % tiles * kQueryTile, weights.data(), kQueryTile,
                             Operands::example_of(out, r, b));
    }
  });
}

void check_operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const PairTerms& terms) {
  const std::int64_t replicas = q.size(0);
  const std::int64_t heads = q.size(3);
  check_operand("attention: k", k, {replicas, q.size(1), k.size(2), heads, q.size(4)}, q);
  check_operand("attention: v", v, k.sizes(), q);
  if (terms.bias.defined()) {
    const std::int64_t pairs = terms.bias.by_offset ? 2 * k.size(2) - 1 : q.size(2) * k.size(2);
    const std::int64_t own = terms.bias.values.size(0) == 1 ? 1 : replicas;
    check_operand("attention: bias", terms.bias.values, {own, heads, pairs}, q);
  }
  if (!terms.mlp) return;
  const PairMlp& mlp = *terms.mlp;
  if (!terms.bias.defined())
    throw Error("attention: an MLP over logits and bias needs a bias", Fault::kRuntime);
  const std::int64_t hidden = mlp.b1.size(-1);
  check_operand("attention: mlp.w1_logits", mlp.w1_logits, {replicas, heads, hidden}, q);
  check_operand("attention: mlp.w1_bias", mlp.w1_bias, {replicas, heads, hidden}, q);
  check_operand("attention: mlp.b1", mlp.b1, {replicas, hidden}, q);
  check_operand("attention: mlp.w2", mlp.w2, {replicas, hidden, heads}, q);
  check_operand("attention: mlp.b2", mlp.b2, {replicas, heads}, q);
}

}  // namespace

bool fused_attention_covers(const PairTerms& terms, std::int64_t heads) {
  return !terms.mlp || heads <= kMostHeads;
}

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const PairTerms& terms) {
  RECORD_FUNCTION("che::attention", {});
  const std::int64_t queries = q.size(2);
  const std::int64_t keys = k.size(2);
  check_operands(q, k, v, terms);
  const at::Tensor own_q = q.contiguous();
  const at::Tensor own_k = k.contiguous();
  const at::Tensor own_v = v.contiguous();
  const PairValues added = terms.adds_bias ? terms.bias : PairValues();
  LaidOutMlp mlp = terms.mlp ? laid_out(*terms.mlp) : LaidOutMlp();
  const bool by_pair = terms.bias.defined() && !terms.bias.by_offset;
  if (needs_gradient({q, k, v, terms.bias.values, mlp.weights, mlp.b2})) {
    const auto optional = [](const at::Tensor& x) { return x.defined() ? std::optional(x) : std::nullopt; };
    if (terms.mlp) mlp.hidden_bias = laid_out(hidden_bias(*terms.mlp, terms.bias), q.size(0), queries, keys);
    return Attention::apply(own_q, own_k, own_v, optional(laid_out(added, q.size(0), queries, keys)),
                            optional(mlp.weights), optional(mlp.b2), optional(mlp.hidden_bias));
  }
  const c10::NoGradGuard no_grad;
  const at::Tensor out = at::empty(q.sizes(), q.options());
  // What is given by pair is laid out for one tile of queries at a time: what f adds to its hidden layer
  // then stays in a cache for all examples.
  const std::int64_t step = by_pair ? kQueryTile : queries;
  for (std::int64_t first = 0; first < queries; first += step) {
    const std::int64_t count = std::min(step, queries - first);
    const auto part = [&](const PairValues& pairs) { return of_queries(pairs, queries, keys, first, count); };
    if (terms.mlp) {
      mlp.hidden_bias = laid_out(hidden_bias(*terms.mlp, part(terms.bias)), q.size(0), count, keys);
    }
    attend(Operands(own_q.narrow(2, first, count), own_k, own_v,
                    laid_out(part(added), q.size(0), count, keys), mlp),
           out.narrow(2, first, count));
  }
  return out;
}

}  // namespace che
