#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/ops/attention/attention.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Softmax : public torch::autograd::Function<Softmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::Tensor y = at::softmax(x, -1);
    context->save_for_backward({y});
    return y;
  }

  // dx = y (dy - sum of y dy)
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor y = context->get_saved_variables()[0];
    at::Tensor gradient = gradients[0] * y;
    const at::Tensor sums = gradient.sum(-1, /*keepdim=*/true);
    return {gradient.addcmul_(y, sums, -1)};
  }
};

}  // namespace

at::Tensor softmax_last(const at::Tensor& x) { return Softmax::apply(x); }

at::Tensor PairValues::dense(std::int64_t queries, std::int64_t keys) const {
  return part(queries, keys, 0, queries, keys);
}

at::Tensor PairValues::part(std::int64_t queries, std::int64_t keys, std::int64_t first, std::int64_t count,
                            std::int64_t seen) const {
  if (by_offset) {
    // Query i, key j read offset j - i, element j - i + T - 1: windows of `seen`, the first query's last.
    const std::int64_t offsets = count + seen - 1;
    const std::int64_t start = queries - first - count;
    const at::Tensor some = offsets == values.size(2) ? values : values.slice(2, start, start + offsets);
    return some.unfold(2, seen, 1).flip(2);
  }
  if (sums.defined()) {
    const std::int64_t token = keys - queries + first;  // The first query's place.
    const auto keys_minus_queries = [&](std::int64_t side) {
      const at::Tensor of_side = sums.select(2, side);  // (replicas, batch, rows, tokens)
      return of_side.slice(3, 0, seen).unsqueeze(3) - of_side.narrow(3, token, count).unsqueeze(4);
    };
    const at::Tensor left = -keys_minus_queries(0);
    if (sums.size(2) == 1) return left;
    const at::Tensor is_right = at::ones({count, seen}, sums.options().dtype(at::kBool)).triu(token + 1);
    return at::where(is_right, keys_minus_queries(1), left);
  }
  const at::Tensor pairs = compute ? compute(first, count, seen) : values;
  const bool has_all = compute || (count == queries && seen == keys);
  if (has_all) return pairs.unflatten(-1, {count, seen});
  return pairs.unflatten(-1, {queries, keys}).narrow(-2, first, count).narrow(-1, 0, seen);
}

PairValues PairValues::of_queries(std::int64_t queries, std::int64_t keys, std::int64_t first,
                                  std::int64_t count, std::int64_t seen) const {
  if (!defined()) return *this;
  if (by_example()) return {{}, false, {}, sums.slice(4, 0, seen)};
  const bool are_last = seen == keys - queries + first + count;
  if (by_offset && are_last) {
    return seen == keys ? *this : PairValues{values.narrow(2, keys - seen, 2 * seen - 1), true};
  }
  return {part(queries, keys, first, count, seen).flatten(2), false};
}

PairValues masked(const PairValues& bias, const PairValues& mask, std::int64_t queries, std::int64_t keys) {
  if (!bias.defined()) return mask;
  if (bias.by_offset) return {bias.values + mask.values, true};
  if (bias.compute) {
    const auto compute = [=](std::int64_t first, std::int64_t count, std::int64_t seen) {
      return bias.compute(first, count, seen) + mask.part(queries, keys, first, count, seen).flatten(2);
    };
    return {{}, false, compute};
  }
  return {bias.values + mask.dense(queries, keys).flatten(2), false};
}

PairValues additive_bias(const AttentionTerms& terms) {
  if (const auto* const bias = std::get_if<PairValues>(&terms)) return *bias;
  if (const auto* const adapted = std::get_if<AdaptedBias>(&terms)) return adapted->bias;
  return {};
}

namespace reference {
namespace {

// x (replicas, n..., in) times w (replicas, in, out).
at::Tensor project_last(const at::Tensor& x, const at::Tensor& w) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = w.size(2);
  return product(x.reshape({x.size(0), -1, x.size(-1)}), w).view(shape);
}

// A layer of f without its bias: x (replicas, batch, queries, keys, in) and w as in PairMlp.
at::Tensor apply_layer(const at::Tensor& x, const at::Tensor& w) {
  if (w.dim() == 3) return project_last(x, w);
  at::Tensor sum;
  for (std::int64_t tap = 0; tap < w.size(1); ++tap) {
    const std::int64_t shift = tap - w.size(1) / 2;  // Key j reads key j + shift.
    const at::Tensor term = at::constant_pad_nd(project_last(x, w.select(1, tap)), {0, 0, -shift, shift});
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

// Inputs `first` .. `first` + `count` - 1 of a layer.
at::Tensor inputs_of(const at::Tensor& w, std::int64_t first, std::int64_t count) {
  return w.narrow(w.dim() - 2, first, count);
}

// The pairs (queries, keys) whose key comes after the query; the queries are the last ones of `keys` tokens.
at::Tensor later_keys(std::int64_t queries, std::int64_t keys, const at::TensorOptions& options) {
  return at::ones({queries, keys}, options.dtype(at::kBool)).triu(keys - queries + 1);
}

// 0 where the key and the value of a token and head are finite, NaN elsewhere: (replicas, batch, keys, heads,
// 1).
at::Tensor zero_or_nan(const at::Tensor& k, const at::Tensor& v) {
  return (at::cat({k.detach(), v.detach()}, 4) * 0).sum(4, /*keepdim=*/true);
}

// bias (replicas or 1, batch or 1, heads, queries, keys), undefined where `mlp` reads the logits alone. Where
// f of causal attention reads neighbouring keys, it finds zeros at those after the query, as in the released
// program: its hidden layer has a value at the next key, made of these zeros and of the query's own key.
at::Tensor adapted_logits(const at::Tensor& logits, const at::Tensor& bias, const PairMlp& mlp,
                          bool adds_bias, bool causal) {
  const std::int64_t replicas = logits.size(0);
  const std::int64_t heads = logits.size(2);
  // Heads last, for the MLP.
  at::Tensor a = logits.permute({0, 1, 3, 4, 2});  // (r, b, q, k, h)
  at::Tensor b;                                    // (r, b or 1, q, k, h)
  if (bias.defined()) b = bias.permute({0, 1, 3, 4, 2}).expand({replicas, -1, -1, -1, -1});
  if (causal && mlp.taps() > 1) {
    const at::Tensor later = later_keys(a.size(2), a.size(3), a.options()).unsqueeze(2);
    a = a.masked_fill(later, 0);
    if (b.defined()) b = b.masked_fill(later, 0);
  }
  const at::Tensor bias1 = mlp.b1.view({replicas, 1, 1, 1, -1});

  at::Tensor hidden;  // (r, b or 1, q, k, hidden)
  switch (mlp.reads) {
    case PairMlp::Reads::kLogitsAndBias:
      // w1 [A; B] + b1 in two products, because B is the same for the whole batch.
      hidden = apply_layer(a, inputs_of(mlp.w1, 0, heads)) +
               (apply_layer(b, inputs_of(mlp.w1, heads, heads)) + bias1);
      break;
    case PairMlp::Reads::kSum:
      hidden = apply_layer(a + b, mlp.w1) + bias1;
      break;
    case PairMlp::Reads::kBias:
      hidden = apply_layer(b, mlp.w1) + bias1;
      break;
    case PairMlp::Reads::kLogits:
      hidden = apply_layer(a, mlp.w1) + bias1;
      break;
  }
  const at::Tensor f =
      (apply_layer(at::leaky_relu(hidden, 0.01), mlp.w2) + mlp.b2.view({replicas, 1, 1, 1, -1}))
          .permute({0, 1, 4, 2, 3});
  return adds_bias ? logits + bias + f : logits + f;
}

// The terms of queries first .. first + count - 1, the last ones of the first `seen` keys.
AttentionTerms terms_of_queries(const AttentionTerms& terms, std::int64_t queries, std::int64_t keys,
                                std::int64_t first, std::int64_t count, std::int64_t seen) {
  if (const auto* const bias = std::get_if<PairValues>(&terms)) {
    return bias->of_queries(queries, keys, first, count, seen);
  }
  if (const auto* const adapted = std::get_if<AdaptedBias>(&terms)) {
    AdaptedBias part = *adapted;
    part.bias = adapted->bias.of_queries(queries, keys, first, count, seen);
    return part;
  }
  return terms;
}

}  // namespace

at::Tensor logits(const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k,
                  const AttentionTerms& terms, bool causal) {
  if (const auto* const custom = std::get_if<CustomLogits>(&terms)) return custom->apply(scaled, q, k);
  const PairValues bias = additive_bias(terms);
  at::Tensor dense = bias.defined() ? bias.dense(scaled.size(3), scaled.size(4)) : at::Tensor();
  if (bias.defined() && !bias.by_example()) dense = dense.unsqueeze(1);
  if (const auto* const adapted = std::get_if<AdaptedBias>(&terms)) {
    return adapted_logits(scaled, dense, adapted->mlp, adapted->adds_bias, causal);
  }
  return dense.defined() ? scaled + dense : scaled;
}

namespace {

// A, then what the softmax sees: scaled and changed by the terms and the mask, before a causal mask. q and k
// are (replicas, batch, heads, n, width).
AttentionLogits logits_of(const at::Tensor& q, const at::Tensor& k, std::int64_t head_width,
                          const AttentionTerms& terms, const AttentionOptions& options) {
  at::Tensor scaled = product(q, k.transpose(3, 4)) / std::sqrt(static_cast<double>(head_width));
  if (options.scale.defined()) scaled = multiplied(scaled, options.scale.transpose(2, 3));
  at::Tensor total = logits(scaled, q, k, terms, options.causal);
  if (options.mask.defined()) total = total + options.mask.dense(q.size(3), k.size(3)).unsqueeze(1);
  return {.scaled = scaled, .bias = {}, .total = total};
}

// Some queries of a causal operation as one of their own, which nobody observes.
struct QueryBlock {
  at::Tensor q, k, v;
  AttentionTerms terms;
  AttentionOptions options;
};

// The block that begins with queries first .. first + wanted - 1. f over neighbouring keys reads its hidden
// layer at the key behind a query's own, so that the block has the query behind them, too.
QueryBlock block_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const AttentionTerms& terms, const AttentionOptions& options, std::int64_t first,
                    std::int64_t wanted) {
  const std::int64_t queries = q.size(2);
  const std::int64_t keys = k.size(2);
  const auto* const adapted = std::get_if<AdaptedBias>(&terms);
  const std::int64_t behind = adapted == nullptr ? 0 : adapted->mlp.taps() / 2;
  const std::int64_t count = std::min(wanted + behind, queries - first);
  const std::int64_t seen = keys - queries + first + count;
  AttentionOptions of_block = options;
  of_block.observer = {};
  if (options.scale.defined() && options.scale.size(2) > 1) {
    of_block.scale = options.scale.narrow(2, first, count);
  }
  of_block.mask = options.mask.of_queries(queries, keys, first, count, seen);
  return {q.narrow(2, first, count), k.narrow(2, 0, seen), v.narrow(2, 0, seen),
          terms_of_queries(terms, queries, keys, first, count, seen), of_block};
}

}  // namespace

void observe(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const AttentionTerms& terms,
             const AttentionOptions& options) {
  const std::int64_t first = options.observed_query.value_or(0);
  const std::int64_t wanted = options.observed_query ? 1 : q.size(2);
  const QueryBlock block =
      options.causal ? block_of(q, k, v, terms, options, first, wanted) : QueryBlock{q, k, v, terms, options};
  const auto wanted_of = [&](const at::Tensor& values) {
    return values.narrow(-2, options.causal ? 0 : first, wanted);
  };
  const AttentionLogits all =
      logits_of(block.q.transpose(2, 3), block.k.transpose(2, 3), v.size(4), block.terms, block.options);
  const PairValues bias = additive_bias(block.terms);
  options.observer(
      {.scaled = wanted_of(all.scaled),
       .bias = bias.defined() ? wanted_of(bias.dense(block.q.size(2), block.k.size(2))) : at::Tensor(),
       .total = wanted_of(all.total)});
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const AttentionOptions& options) {
  // The weight of a later token is 0, and 0 times NaN is NaN. So tokens that are not finite become 0 here,
  // and their marks make the results of the queries that see them NaN.
  at::Tensor marks, is_marked;
  if (options.causal) {
    marks = zero_or_nan(k, v);
    is_marked = marks.isnan();
  }
  const auto rows_of = [&](const at::Tensor& x) {  // (replicas, batch, heads, n, width)
    return (options.causal ? x.masked_fill(is_marked, 0) : x).transpose(2, 3);
  };
  at::Tensor total = logits_of(q.transpose(2, 3), rows_of(k), v.size(4), terms, options).total;
  if (options.causal) {
    total = total.masked_fill(later_keys(q.size(2), k.size(2), q.options()),
                              -std::numeric_limits<double>::infinity());
  }
  const at::Tensor weights = softmax_last(total);  // (replicas, batch, heads, queries, keys)
  const at::Tensor out = product(weights, rows_of(v)).transpose(2, 3);
  return options.causal ? out + marks.cumsum(2).slice(2, k.size(2) - q.size(2)) : out;
}

at::Tensor attention_in_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const AttentionTerms& terms, const AttentionOptions& options) {
  constexpr std::int64_t kQueriesOfBlock = 256;
  const std::int64_t queries = q.size(2);
  const at::Tensor out = at::empty(q.sizes(), q.options());
  for (std::int64_t first = 0; first < queries; first += kQueriesOfBlock) {
    const std::int64_t wanted = std::min(kQueriesOfBlock, queries - first);
    const QueryBlock block = block_of(q, k, v, terms, options, first, wanted);
    const at::Tensor part = attention(block.q, block.k, block.v, block.terms, block.options);
    out.narrow(2, first, wanted).copy_(part.narrow(2, 0, wanted));
  }
  return out;
}

}  // namespace reference

}  // namespace che
