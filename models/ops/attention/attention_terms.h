#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

namespace che {

// Values at every (query, key) pair, by rows (heads, features of a hidden layer), the same for all
// examples or by example. Values that depend only on the offset of a key from its query are kept by offset,
// in O(tokens) instead of O(tokens^2). Formulas that act on single values treat both alike.
struct PairValues {
  // (replicas or 1, rows, pairs): pairs are either the offsets -(T-1) .. T-1 of a key from its query
  // or queries * keys, query by query. Undefined for none.
  at::Tensor values;
  bool by_offset = false;
  // Stands in place of `values` by pair, which would take O(tokens^2) memory. It returns those of the queries
  // first .. first + count - 1 and the keys 0 .. keys - 1, (replicas or 1, rows, count * keys). Without
  // gradients.
  std::function<at::Tensor(std::int64_t first, std::int64_t count, std::int64_t keys)> compute = {};
  // In place of `values`, by example: running sums over the tokens, (replicas, batch, sides, rows, keys). The
  // value is s_query - s_key of side 0 at keys up to the query, and s_key - s_query of side 1 at later ones.
  // Causal attention has side 0 alone.
  at::Tensor sums = {};

  bool defined() const { return values.defined() || compute || sums.defined(); }
  bool by_example() const { return sums.defined(); }

  // (replicas or 1, rows, queries, keys), by example (replicas, batch, rows, queries, keys); the queries are
  // the last ones of `keys` tokens.
  at::Tensor dense(std::int64_t queries, std::int64_t keys) const;
  // Those of the queries first .. first + count - 1 and the first `seen` keys, (replicas or 1, rows, count,
  // seen), by example likewise.
  at::Tensor part(std::int64_t queries, std::int64_t keys, std::int64_t first, std::int64_t count,
                  std::int64_t seen) const;
  // Returns them as values of an operation with these queries and keys. By example, the queries must be the
  // last ones of the keys that are seen.
  PairValues of_queries(std::int64_t queries, std::int64_t keys, std::int64_t first, std::int64_t count,
                        std::int64_t seen) const;
};

// The sum of a bias, which may be undefined, and a mask by offset.
PairValues masked(const PairValues& bias, const PairValues& mask, std::int64_t queries, std::int64_t keys);

// A logit below any other, whose weight is 0. It is finite, so that a tile of nothing else has a softmax.
inline constexpr double kOutOfSight = -1e9;

// DAPE's f (arXiv 2405.14722), an MLP across heads at every pair:
//
//   f(x) = w2 LeakyReLU_0.01(w1 x + b1) + b2.
//
// With three taps (arXiv 2410.04798) both layers are convolutions over neighbouring keys,
// (w x)_j = w_0 x_(j-1) + w_1 x_j + w_2 x_(j+1), zero beyond the first and last key.
struct PairMlp {
  enum class Reads : std::uint8_t { kLogitsAndBias, kSum, kBias, kLogits };  // x: [A; B], A + B, B or A.

  at::Tensor w1;  // (replicas, inputs, hidden), or (replicas, 3, inputs, hidden)
  at::Tensor b1;  // (replicas, hidden)
  at::Tensor w2;  // (replicas, hidden, heads), or (replicas, 3, hidden, heads)
  at::Tensor b2;  // (replicas, heads)
  Reads reads = Reads::kLogitsAndBias;

  std::int64_t taps() const { return w1.dim() == 3 ? 1 : w1.size(1); }
};

// The logits become A [+ B] + f(A, B).
struct AdaptedBias {
  PairValues bias;  // B, by head; undefined where `mlp` reads the logits alone.
  bool adds_bias;   // Whether B itself is added.
  PairMlp mlp;
};

// Is any other function that gives logits like A. It takes the scaled logits A = q k / sqrt(head_width),
// (replicas, batch, heads, queries, keys), and q and k, (replicas, batch, heads, n, head_width). The queries
// are the last ones of as many tokens as there are keys. No fused operation covers it.
struct CustomLogits {
  std::function<at::Tensor(const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k)> apply;
};

// The change of the scaled logits before the softmax: B is added (undefined: nothing), or one of the others
// applies.
using AttentionTerms = std::variant<PairValues, AdaptedBias, CustomLogits>;

// The additive bias B in `terms`, adapted or not; undefined where there is none.
PairValues additive_bias(const AttentionTerms& terms);

}  // namespace che
