#pragma once

#include <cstdint>

namespace che {

// Memory of a (replicas, batch, rows...) tensor whose rows of one example follow each other without gaps.
template <class Value>
struct ExampleView {
  Value* data = nullptr;
  std::int64_t replica_stride = 0;
  std::int64_t example_stride = 0;

  Value* of(std::int64_t replica, std::int64_t example) const {
    return data + replica * replica_stride + example * example_stride;
  }
};

// Memory of values at every (query, key) pair, by rows (heads, hidden features), the same for all examples.
// The pairs of a row follow each other: by offset, query i and key j read element j - i + queries - 1 of
// 2 keys - 1; by pair, element i keys + j of queries keys.
template <class Value>
struct PairView {
  Value* data = nullptr;            // Null for none.
  std::int64_t replica_stride = 0;  // 0 where all replicas share the values.
  std::int64_t row_stride = 0;
  bool by_offset = false;

  Value* row(std::int64_t replica, std::int64_t row) const {
    return data + replica * replica_stride + row * row_stride;
  }
};

}  // namespace che
