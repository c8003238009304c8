// The tiles of attention_backward.cu: what a block keeps in shared memory, how much that is, and products and
// sums of it that touch no registers of the kernel.
#pragma once

#include "models/ops/attention/attention_tiles.h"

namespace che::gpu {

constexpr int kKeys = 16;
constexpr int kPairs = kQueries * kKeys;
constexpr int kHeadStep = kPairs + 4;
constexpr int kHiddenAtOnce = kWarps;
constexpr int kDiagonals = kQueries + kKeys - 1;
static_assert(kPairs == kThreads);

// Places in shared memory. padded_heads are those of f, or all of them without it.
struct BackwardLayout {
  int row, step;                   // Without and with padding, by which no two keys are in one bank.
  int q, d_out, k, v;              // (16, row), (16, row), (16, step), (16, step)
  int logits, weights, gradients;  // (padded_heads, kHeadStep): A, P, dP and then dS
  int active, d_before;            // (kHiddenAtOnce, kPairs)
  int mlp, d_mlp;                  // (hidden, {w1, w2}, padded_heads)
  int b2, d_b2;                    // (padded_heads)
  int end;

  __host__ __device__ BackwardLayout(int heads, int width, int padded_heads, int hidden) {
    row = heads * width;
    step = row + 4;
    q = 0;
    d_out = q + kQueries * row;
    k = d_out + kQueries * row;
    v = k + kKeys * step;
    logits = v + kKeys * step;
    weights = logits + padded_heads * kHeadStep;
    gradients = weights + padded_heads * kHeadStep;
    active = gradients + padded_heads * kHeadStep;
    d_before = active + (hidden > 0 ? kHiddenAtOnce * kPairs : 0);
    mlp = d_before + (hidden > 0 ? kHiddenAtOnce * kPairs : 0);
    d_mlp = mlp + hidden * 2 * padded_heads;
    b2 = d_mlp + hidden * 2 * padded_heads;
    d_b2 = b2 + padded_heads;
    end = d_b2 + padded_heads;
  }
};

// A and dP of a tile: logits = q k and gradients = d_out v. A thread takes four queries and a key of a head.
__device__ __forceinline__ void multiply_tiles(const float* q, const float* k, const float* d_out,
                                               const float* v, int heads, int width, int row, int step,
                                               float* logits, float* gradients) {
  constexpr int kRows = 4;
  for (int item = thread_number(); item < heads * kPairs / kRows; item += kThreads) {
    const int j = item % kKeys;
    const int i0 = item / kKeys % (kQueries / kRows) * kRows;
    const int head = item / (kPairs / kRows);
    const int column = head * width;
    float a[kRows] = {};
    float d_p[kRows] = {};
    for (int c = column; c < column + width; c += 4) {
      const float4 key = load4(k + j * step + c);
      const float4 value = load4(v + j * step + c);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        a[i] = dot4(load4(q + (i0 + i) * row + c), key, a[i]);
        d_p[i] = dot4(load4(d_out + (i0 + i) * row + c), value, d_p[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      logits[head * kHeadStep + (i0 + i) * kKeys + j] = a[i];
      gradients[head * kHeadStep + (i0 + i) * kKeys + j] = d_p[i];
    }
  }
}

// Adds the tile's values, those of a row kRowStep apart and of a pair kPairStep, to sums by offset
// (rows, 2 keys - 1).
template <int kRowStep, int kPairStep>
__device__ __forceinline__ void add_diagonals(const float* values, int rows, int queries, int keys,
                                              int query0, int key0, float* sums) {
  for (int item = thread_number(); item < rows * kDiagonals; item += kThreads) {
    // Lanes that are side by side read what lies side by side.
    const int row = kPairStep == 1 ? item / kDiagonals : item % rows;
    const int diagonal = kPairStep == 1 ? item % kDiagonals : item / rows;
    const int difference = diagonal - (kQueries - 1);  // Key - query, within the tile.
    const int offset = key0 - query0 + difference + queries - 1;
    if (offset < 0 || offset >= 2 * keys - 1) continue;
    float sum = 0;
    for (int i = max(0, -difference); i < min(kQueries, kKeys - difference); ++i) {
      sum += values[row * kRowStep + (i * kKeys + i + difference) * kPairStep];
    }
    sums[std::int64_t{row} * (2 * keys - 1) + offset] += sum;
  }
}

inline std::int64_t rows_of_heads(const AttentionShape& shape) {
  return shape.replicas * shape.batch * shape.heads * shape.queries;
}

// Returns for how many blocks a processor must have registers: two, unless many registers would spill then.
constexpr int blocks_at_once(int heads, int columns) { return heads <= 8 && columns == 1 ? 2 : 1; }

// Floats that the forward pass keeps.
inline std::int64_t saved_values(const AttentionShape& shape) {
  return saved_out(shape) + shape.replicas * shape.batch * shape.queries * shape.heads * shape.head_width;
}

// Shared memory of a block.
inline std::int64_t backward_bytes(const AttentionShape& shape) {
  const auto heads = static_cast<int>(shape.heads);
  const BackwardLayout layout(heads, static_cast<int>(shape.head_width),
                              shape.hidden == 0 ? heads : mlp_heads(heads), static_cast<int>(shape.hidden));
  return std::int64_t{4} * layout.end;
}

}  // namespace che::gpu
