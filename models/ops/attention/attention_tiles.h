// Attention's kernels share this. A block's 256 threads take a tile of 16 queries of one example, all heads,
// and pass the keys tile by tile.
#pragma once

#include "models/ops/device/gpu.h"

namespace che::gpu {

constexpr int kQueries = 16;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMaxHeads = 16;
constexpr int kMaxRow = 2 * kThreads;  // The most heads * head_width.
constexpr float kSlope = 0.01F;        // LeakyReLU's.

// Where a pair's value stands in its row.
__device__ __forceinline__ std::int64_t pair_index(bool by_offset, int queries, int keys, int query,
                                                   int key) {
  return by_offset ? key - query + queries - 1 : std::int64_t{query} * keys + key;
}

// The keys that a query of causal attention sees, the first ones; queries are the last tokens.
__device__ __forceinline__ int visible_keys(int queries, int keys, int query) {
  return min(keys, keys - queries + query + 1);
}

// Pairs of a row.
inline std::int64_t pairs_of_row(bool by_offset, std::int64_t queries, std::int64_t keys) {
  return by_offset ? 2 * keys - 1 : queries * keys;
}

__device__ __forceinline__ float4 to_tf32(const float4& x) {
  return make_float4(to_tf32(x.x), to_tf32(x.y), to_tf32(x.z), to_tf32(x.w));
}

// Rows of shared memory for tensor cores are a multiple of 32 floats apart. Row r has column c in place
// c ^ (r % 4 * 8), so that what a warp loads at a time comes from 32 banks.
__host__ __device__ inline int tensor_step(int row) { return (row + kWarp - 1) / kWarp * kWarp; }
__device__ __forceinline__ int tensor_column(int row, int column) { return column ^ (row % 4 * 8); }

// Rows first ... of an example, `row` floats each, into shared memory with a step of `step`, times `scale`;
// zeros behind the example's last row. For tensor cores they are rounded and stand where
// tensor_column says.
template <GpuPrecision kPrecision>
__device__ __forceinline__ void load_rows(const float* from, int first, int rows, int count, int row,
                                          int step, float scale, float* to) {
  constexpr bool kTf32 = kPrecision == GpuPrecision::kTf32;
  constexpr int kAtOnce = 4;  // Loads that a thread waits for together.
  // A thread goes on by so many rows and columns, without a division.
  const int rows_on = 4 * kThreads / row;
  const int columns_on = 4 * kThreads % row;
  int n = 4 * thread_number() / row;
  int column = 4 * thread_number() % row;
  while (n < count) {
    float4 values[kAtOnce];
    int places[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      places[i] = n < count ? n * step + (kTf32 ? tensor_column(n, column) : column) : -1;
      values[i] = make_float4(0, 0, 0, 0);
      if (n < min(count, rows - first)) values[i] = load4(from + std::int64_t{first + n} * row + column);
      n += rows_on;
      column += columns_on;
      if (column >= row) {
        column -= row;
        ++n;
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (places[i] < 0) break;
      float4 value =
          make_float4(scale * values[i].x, scale * values[i].y, scale * values[i].z, scale * values[i].w);
      store4(to + places[i], kTf32 ? to_tf32(value) : value);
    }
  }
}

// c (16, 8 kTiles) += the products of rows of `a` (16) and of `b` (8 kTiles), `width` columns from `column`
// on. A warp computes it. Column 2t takes place t of a product's inner axis, and 2t + 1 place t + 4.
template <int kTiles>
__device__ __forceinline__ void multiply_rows(const float* a, const float* b, int step, int column, int width,
                                              float (&c)[kTiles][4]) {
  const int t = thread_number() % 4;
  const int g = thread_number() % kWarp / 4;
#pragma unroll 1
  for (int n = column; n < column + width; n += 8) {
    const int at = g * step + tensor_column(g, n) + 2 * t;
    const float2 low = load2(a + at);
    const float2 high = load2(a + at + 8 * step);
    const float of_a[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const float2 value = load2(b + at + tile * 8 * step);
      const float of_b[2] = {value.x, value.y};
      mma_tf32(c[tile], of_a, of_b);
    }
  }
}

// Stores c (16, 8 kTiles) of a warp as rows, kStep apart.
template <int kStep, int kTiles>
__device__ __forceinline__ void store_rows(const float (&c)[kTiles][4], float* to) {
  float* const own = to + thread_number() % kWarp / 4 * kStep + thread_number() % 4 * 2;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    store2(own + tile * 8, c[tile][0], c[tile][1]);
    store2(own + tile * 8 + 8 * kStep, c[tile][2], c[tile][3]);
  }
}

// c (16, width) += a b for `a` (16, 8 kEights), whose rows are kRow apart and whose columns kColumn, and rows
// of `b`, `width` columns from `column` on. A warp computes it. kAddsRemainder: the part of `a` that
// rounding to TF32 removes is multiplied, too.
template <int kRow, int kColumn, int kEights, bool kAddsRemainder, int kTiles>
__device__ __forceinline__ void multiply_columns(const float* a, const float* b, int step, int column,
                                                 int width, float (&c)[kTiles][4]) {
  const int t = thread_number() % 4;
  const int g = thread_number() % kWarp / 4;
#pragma unroll 1
  for (int n = t; n < 8 * kEights; n += 8) {
    float of_a[4];
    float rest[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float value = a[(g + i % 2 * 8) * kRow + (n + i / 2 * 4) * kColumn];
      of_a[i] = to_tf32(value);
      rest[i] = to_tf32(value - of_a[i]);
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile * 8 >= width) break;
      const float* const value = b + n * step + tensor_column(t, column + tile * 8) + g;
      const float of_b[2] = {value[0], value[4 * step]};
      mma_tf32(c[tile], of_a, of_b);
      if constexpr (kAddsRemainder) mma_tf32(c[tile], rest, of_b);
    }
  }
}

// f's weights of a replica into shared memory: (hidden, {w1, w2}, H) and b2 (H), zeros where there are fewer
// heads than H. They are rounded where tensor cores multiply.
template <int H, GpuPrecision kPrecision>
__device__ __forceinline__ void load_mlp(const AttentionInputs& in, int replica, float* weights, float* b2) {
  const int heads = static_cast<int>(in.shape.heads);
  const int hidden = static_cast<int>(in.shape.hidden);
  const std::int64_t before = std::int64_t{replica} * heads * hidden;
  for (int i = thread_number(); i < hidden * H; i += kThreads) {
    const int n = i / H;
    const int h = i % H;
    const float w1 = h < heads ? in.w1[before + h * hidden + n] : 0;
    const float w2 = h < heads ? in.w2[before + n * heads + h] : 0;
    weights[n * 2 * H + h] = kPrecision == GpuPrecision::kTf32 ? to_tf32(w1) : w1;
    weights[n * 2 * H + H + h] = kPrecision == GpuPrecision::kTf32 ? to_tf32(w2) : w2;
  }
  for (int h = thread_number(); h < H; h += kThreads) b2[h] = h < heads ? in.b2[replica * heads + h] : 0;
}

__device__ __forceinline__ float dot4(const float4& a, const float4& b, float sum) {
  return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// The number of heads that f's kernels are compiled for: 2, 4, 8 or 16.
inline int mlp_heads(std::int64_t heads) {
  int padded = 2;
  while (padded < heads) padded *= 2;
  return padded;
}

// Whether tensor cores can compute the products, with a warp for each head. They compute f for 5 to 8 heads.
inline bool suits_tf32(const AttentionShape& shape) {
  return shape.heads <= kWarps && shape.head_width % 8 == 0 &&
         (shape.hidden == 0 || (mlp_heads(shape.heads) == 8 && shape.hidden % 8 == 0));
}
inline bool runs_tf32(const KernelCall& call, const AttentionShape& shape) {
  return call.precision == GpuPrecision::kTf32 && suits_tf32(shape);
}

// Calls f.operator()<H, kColumns, kPrecision>() for the kernel of a shape. H: heads that f is compiled for, 0
// without f. kColumns: columns of a thread; on tensor cores, groups of 32 columns of the warp's head.
template <int H, GpuPrecision kPrecision, class F>
int with_columns(const AttentionShape& shape, const F& f) {
  const bool has_two = kPrecision == GpuPrecision::kTf32 ? shape.head_width > kWarp
                                                         : shape.heads * shape.head_width > kThreads;
  // Two heads have 128 columns at most, four 256.
  if constexpr (H == 0 || H > 4) {
    if (has_two) return f.template operator()<H, 2, kPrecision>();
  }
  return f.template operator()<H, 1, kPrecision>();
}

template <class F>
int with_kernel(const KernelCall& call, const AttentionShape& shape, const F& f) {
  constexpr GpuPrecision kFp32 = GpuPrecision::kFp32;
  constexpr GpuPrecision kTf32 = GpuPrecision::kTf32;
  const bool is_tf32 = runs_tf32(call, shape);
  if (shape.hidden == 0) return is_tf32 ? with_columns<0, kTf32>(shape, f) : with_columns<0, kFp32>(shape, f);
  switch (mlp_heads(shape.heads)) {
    case 2:
      return with_columns<2, kFp32>(shape, f);
    case 4:
      return with_columns<4, kFp32>(shape, f);
    case 8:
      return is_tf32 ? with_columns<8, kTf32>(shape, f) : with_columns<8, kFp32>(shape, f);
    default:
      return with_columns<16, kFp32>(shape, f);
  }
}

// Whether attention's kernels serve the shape, shared memory aside.
inline bool serves(const AttentionShape& shape) {
  constexpr std::int64_t kMaxTokens = 1 << 24;
  constexpr std::int64_t kMaxGrid = 65535;
  return !shape.has_sums && shape.heads >= 1 && shape.heads <= kMaxHeads && shape.head_width >= 4 &&
         shape.head_width % 4 == 0 && shape.head_width <= 64 && shape.heads * shape.head_width <= kMaxRow &&
         shape.queries <= shape.keys && shape.keys <= kMaxTokens && shape.batch <= kMaxGrid &&
         shape.replicas <= kMaxGrid;
}

inline bool is_empty(const AttentionShape& shape) {
  return shape.replicas == 0 || shape.batch == 0 || shape.queries == 0;
}

// The forward pass keeps log sums of the weights' powers (replicas, batch, heads, queries), and the
// result, without gaps, from this place on.
inline std::int64_t saved_out(const AttentionShape& shape) {
  return divided_up(shape.replicas * shape.batch * shape.heads * shape.queries, 4) * 4;
}

// Defined in attention_forward.cu.
bool forward_serves(const AttentionShape& shape);
int attention_forward(const KernelCall& call, const AttentionInputs& in, const ExampleView<float>& out,
                      float* saved);

}  // namespace che::gpu
