#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace che {

// Values at every (query, key) pair, by rows (heads, features of a hidden layer), the same for all
// examples. What depends only on the offset of a key from its query is kept by offset: O(tokens)
// instead of O(tokens^2). Formulas that act on single values treat both alike.
struct PairValues {
  // (replicas or 1, rows, pairs): pairs are either the offsets -(T-1) .. T-1 of a key from its query
  // or queries * keys, query by query. Undefined for none.
  at::Tensor values;
  bool by_offset = false;

  bool defined() const { return values.defined(); }

  // (replicas or 1, rows, queries, keys); the queries are the last ones of `keys` tokens.
  at::Tensor dense(std::int64_t queries, std::int64_t keys) const;
};

}  // namespace che
