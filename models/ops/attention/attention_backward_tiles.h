// The tiles of attention_backward.cu: what a block keeps in shared memory, how much that is, and sums by
// offset.
#pragma once

#include "models/ops/attention/attention_tiles.h"

namespace che::gpu {

constexpr int kKeys = 16;
constexpr int kPairs = kQueries * kKeys;
constexpr int kHeadStep = kPairs + 4;
constexpr int kHiddenAtOnce = kWarps;
constexpr int kHeadsThatShareV = 8;  // f's padded heads; with fewer a block needs less memory.
static_assert(kPairs == kThreads);

// Places in shared memory. padded_heads are those of f, or all of them without it.
struct BackwardLayout {
  int row, q_step, step;           // The step of k and v has no two keys in one bank.
  int q, d_out, k, v;              // (16, row) each
  int logits, weights, gradients;  // (padded_heads, kHeadStep): A, P, dP and then dS
  int active, d_before;            // (kHiddenAtOnce, kPairs); in the place of v where memory is short
  int mlp, d_mlp;                  // (hidden, {w1, w2}, padded_heads)
  int b2, d_b2;                    // (padded_heads)
  int end;

  __host__ __device__ BackwardLayout(int heads, int width, int padded_heads, int hidden, bool tf32,
                                     bool shares_v) {
    row = heads * width;
    q_step = tf32 ? tensor_step(row) : row;
    step = tf32 ? q_step : row + 4;
    q = 0;
    d_out = q + kQueries * q_step;
    k = d_out + kQueries * q_step;
    v = k + kKeys * step;
    logits = v + kKeys * step;
    weights = logits + padded_heads * kHeadStep;
    gradients = weights + padded_heads * kHeadStep;
    const int features = hidden > 0 ? kHiddenAtOnce * kPairs : 0;
    const int end_of_pairs = gradients + padded_heads * kHeadStep;
    active = shares_v ? v : end_of_pairs;
    d_before = active + features;
    mlp = shares_v ? end_of_pairs : d_before + features;
    d_mlp = mlp + hidden * 2 * padded_heads;
    b2 = d_mlp + hidden * 2 * padded_heads;
    d_b2 = b2 + padded_heads;
    end = d_b2 + padded_heads;
  }

  // Whether v is read again for each tile of queries.
  bool shares_v() const { return active == v; }

  std::int64_t bytes() const { return std::int64_t{4} * end; }
};

// Adds the tile's values, those of a row kRowStep apart and of a pair kPairStep, to sums by offset
// (rows, 2 keys - 1). A diagonal of the tile and the one that has the keys which it lacks are 16 pairs. Two
// lanes take eight of these, so that all warps have as much to do; what they read at a time shares no bank.
template <int kRowStep, int kPairStep>
__device__ __forceinline__ void add_diagonals(const float* values, int rows, int queries, int keys,
                                              int query0, int key0, float* sums) {
  static_assert(kQueries == 16 && kKeys == 16);
  const int lane = thread_number() % 16;
  const int half = thread_number() % kWarp / 16;
  for (int item = thread_number() / kWarp * 16 + lane; item < rows * 16; item += kWarps * 16) {
    // Lanes that are side by side read what lies side by side.
    const int row = kPairStep == 1 ? item / 16 : item % rows;
    const int difference = kPairStep == 1 ? item % 16 : item / rows;  // Key - query, or 16 more than that.
    float above = 0;
    float below = 0;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int i = half * 8 + (n + half * (kPairStep == 1 ? 1 : 2)) % 8;
      const int j = i + difference;
      const float value = values[row * kRowStep + (i * 16 + j % 16) * kPairStep];
      (j < 16 ? above : below) += value;
    }
    above += __shfl_xor_sync(0xffffffffU, above, 16);
    below += __shfl_xor_sync(0xffffffffU, below, 16);
    const int offset = key0 - query0 + difference - half * 16 + queries - 1;
    if (difference < half || offset < 0 || offset >= 2 * keys - 1) continue;
    sums[std::int64_t{row} * (2 * keys - 1) + offset] += half == 0 ? above : below;
  }
}

inline std::int64_t rows_of_heads(const AttentionShape& shape) {
  return shape.replicas * shape.batch * shape.heads * shape.queries;
}

// Returns for how many blocks a processor must have registers: two, unless many registers would spill then.
// On an H200 a step of DAPE in TF32 takes 6 % less with one.
constexpr int blocks_at_once(int heads, int columns, GpuPrecision precision) {
  const bool has_many = heads > 8 || (heads == 8 && precision == GpuPrecision::kTf32) || columns > 1;
  return has_many ? 1 : 2;
}

// Floats that the forward pass keeps.
inline std::int64_t saved_values(const AttentionShape& shape) {
  return saved_out(shape) + shape.replicas * shape.batch * shape.queries * shape.heads * shape.head_width;
}

// GPUs with 99 KiB have too little for f and v side by side.
inline BackwardLayout backward_layout(const AttentionShape& shape, bool tf32) {
  const auto heads = static_cast<int>(shape.heads);
  const int padded_heads = shape.hidden == 0 ? heads : mlp_heads(heads);
  const auto layout = [&](bool shares_v) {
    return BackwardLayout(heads, static_cast<int>(shape.head_width), padded_heads,
                          static_cast<int>(shape.hidden), tf32, shares_v);
  };
  const BackwardLayout usual = layout(false);
  const bool can_share = shape.hidden > 0 && padded_heads == kHeadsThatShareV &&
                         kKeys * usual.step >= 2 * kHiddenAtOnce * kPairs;
  return can_share && usual.bytes() > max_shared_bytes() ? layout(true) : usual;
}

}  // namespace che::gpu
