#pragma once

#include <cstdint>

namespace che {

// The hidden layer of feed_forward() of models/kernels/feed_forward.h between its two products, which are a
// library's: (replicas, rows, width), the rows of a replica without gaps.
struct HiddenRows {
  std::int64_t replicas;
  std::int64_t rows;
  std::int64_t width;
  float* data;
  std::int64_t replica_stride;

  float* row(std::int64_t replica, std::int64_t first) const {
    return data + replica * replica_stride + first * width;
  }
};

struct BiasReluForm {
  // Rows that pass at once, so that what is done to them finds them in a cache.
  std::int64_t block_rows;

  // Sums over rows are kept as so many sums, which the operation adds up in order at the end.
  std::int64_t partial_sums;

  // values become max(values + bias, 0); bias (replicas, width).
  void (*forward)(const HiddenRows& values, const float* bias);

  // gradient becomes 0 where activation is; its sum over the rows is added to d_bias, (replicas,
  // partial_sums, width).
  void (*backward)(const HiddenRows& gradient, const HiddenRows& activation, float* d_bias);
};

}  // namespace che
