// This computes the products of attention_backward.cu but f's: A and dP of a tile, and its part of dq, dk and
// dv. They run in fp32 or on tensor cores, and have sums of dk and dv in registers.
#pragma once

#include "models/ops/attention/attention_backward_tiles.h"

namespace che::gpu {

// A tile's products read these operands in shared memory.
struct ProductTile {
  const BackwardLayout& layout;
  int heads, width;
  const float *q, *d_out, *k, *v;
  int queries, keys;  // How many there are from the tile's first to the sequence's end.
};

// A thread takes four queries and a key of a head, then a column.
template <int kColumns>
struct Fp32Products {
  float d_k[kColumns][kKeys] = {};
  float d_v[kColumns][kKeys] = {};

  // logits = q k and gradients = d_out v.
  static __device__ __forceinline__ void multiply(const ProductTile& tile, float* logits, float* gradients) {
    constexpr int kRows = 4;
    const int row = tile.layout.row;
    const int step = tile.layout.step;
    for (int item = thread_number(); item < tile.heads * kPairs / kRows; item += kThreads) {
      const int j = item % kKeys;
      const int i0 = item / kKeys % (kQueries / kRows) * kRows;
      const int head = item / (kPairs / kRows);
      const int column = head * tile.width;
      float a[kRows] = {};
      float d_p[kRows] = {};
      for (int c = column; c < column + tile.width; c += 4) {
        const float4 key = load4(tile.k + j * step + c);
        const float4 value = load4(tile.v + j * step + c);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          a[i] = dot4(load4(tile.q + (i0 + i) * row + c), key, a[i]);
          d_p[i] = dot4(load4(tile.d_out + (i0 + i) * row + c), value, d_p[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        logits[head * kHeadStep + (i0 + i) * kKeys + j] = a[i];
        gradients[head * kHeadStep + (i0 + i) * kKeys + j] = d_p[i];
      }
    }
  }

  // Adds the tile's part to dk and dv, and `scale` times that of dq to d_q, which `is_first` sets.
  __device__ __forceinline__ void add(const ProductTile& tile, const float* d_logits, const float* weights,
                                      float scale, bool is_first, float* d_q) {
    const int row = tile.layout.row;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const int c = thread_number() + n * kThreads;
      if (c >= row) break;
      const int of_head = c / tile.width * kHeadStep;
      float of_keys[kKeys];
#pragma unroll
      for (int j = 0; j < kKeys; ++j) of_keys[j] = tile.k[j * tile.layout.step + c];
#pragma unroll 2
      for (int i = 0; i < kQueries; ++i) {
        const float of_query = tile.q[i * row + c];
        const float of_result = tile.d_out[i * row + c];
        float sum = 0;
#pragma unroll
        for (int j = 0; j < kKeys; j += 4) {
          const float4 d_a = load4(d_logits + of_head + i * kKeys + j);
          const float4 p = load4(weights + of_head + i * kKeys + j);
          d_k[n][j] += d_a.x * of_query;
          d_k[n][j + 1] += d_a.y * of_query;
          d_k[n][j + 2] += d_a.z * of_query;
          d_k[n][j + 3] += d_a.w * of_query;
          d_v[n][j] += p.x * of_result;
          d_v[n][j + 1] += p.y * of_result;
          d_v[n][j + 2] += p.z * of_result;
          d_v[n][j + 3] += p.w * of_result;
          sum = dot4(d_a, make_float4(of_keys[j], of_keys[j + 1], of_keys[j + 2], of_keys[j + 3]), sum);
        }
        if (i >= tile.queries) continue;
        float* const to = d_q + std::int64_t{i} * row + c;
        *to = scale * sum + (is_first ? 0 : *to);
      }
    }
  }

  __device__ __forceinline__ void store(const ProductTile& tile, float* to_k, float* to_v) const {
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const int c = thread_number() + n * kThreads;
      if (c >= tile.layout.row) break;
#pragma unroll
      for (int j = 0; j < kKeys; ++j) {
        if (j >= tile.keys) continue;
        to_k[std::int64_t{j} * tile.layout.row + c] = d_k[n][j];
        to_v[std::int64_t{j} * tile.layout.row + c] = d_v[n][j];
      }
    }
  }
};

// This does the same with a warp for each head.
template <int kColumns>
struct TensorProducts {
  static constexpr int kTiles = 4 * kColumns;  // Each has 8 columns.
  float d_k[kTiles][4] = {};
  float d_v[kTiles][4] = {};

  static __device__ __forceinline__ int head() { return thread_number() / kWarp; }

  static __device__ __forceinline__ void multiply(const ProductTile& tile, float* logits, float* gradients) {
    if (head() >= tile.heads) return;
    const auto product = [&](const float* rows, const float* keys, float* to) {
      float c[kKeys / 8][4] = {};
      multiply_rows(rows, keys, tile.layout.step, head() * tile.width, tile.width, c);
      store_rows<kKeys>(c, to + head() * kHeadStep);
    };
    product(tile.q, tile.k, logits);
    product(tile.d_out, tile.v, gradients);
  }

  __device__ __forceinline__ void add(const ProductTile& tile, const float* d_logits, const float* weights,
                                      float scale, bool is_first, float* d_q) {
    if (head() >= tile.heads) return;
    const float* const d_a = d_logits + head() * kHeadStep;
    const float* const p = weights + head() * kHeadStep;
    const int step = tile.layout.step;
    const int column = head() * tile.width;
    multiply_columns<1, kKeys, kQueries / 8, false>(d_a, tile.q, step, column, tile.width, d_k);
    multiply_columns<1, kKeys, kQueries / 8, false>(p, tile.d_out, step, column, tile.width, d_v);
    float sums[kTiles][4] = {};
    multiply_columns<kKeys, 1, kKeys / 8, false>(d_a, tile.k, step, column, tile.width, sums);
    for_pairs(tile, tile.queries, [&](std::int64_t at, int n, int i) {
      const float2 before = is_first ? make_float2(0, 0) : load2(d_q + at);
      store2(d_q + at, scale * sums[n][i] + before.x, scale * sums[n][i + 1] + before.y);
    });
  }

  __device__ __forceinline__ void store(const ProductTile& tile, float* to_k, float* to_v) const {
    if (head() >= tile.heads) return;
    for_pairs(tile, tile.keys, [&](std::int64_t at, int n, int i) {
      store2(to_k + at, d_k[n][i], d_k[n][i + 1]);
      store2(to_v + at, d_v[n][i], d_v[n][i + 1]);
    });
  }

  // Calls f with each place among `rows` rows of which the lane has two columns, values i and i + 1 of tile
  // n.
  template <class F>
  static __device__ __forceinline__ void for_pairs(const ProductTile& tile, int rows, const F& f) {
    const int g = thread_number() % kWarp / 4;
    const int column = head() * tile.width + thread_number() % 4 * 2;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      if (n * 8 >= tile.width) break;
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const int row = g + i * 4;
        if (row < rows) f(std::int64_t{row} * tile.layout.row + column + n * 8, n, i);
      }
    }
  }
};

}  // namespace che::gpu
