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

// How f is computed, if it is there.
enum class Mlp { kNone, kFp32, kTf32 };

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

// Rows first ... of an example, `row` floats each, into shared memory with a step of `step`, times `scale`;
// zeros behind the example's last row.
__device__ __forceinline__ void load_rows(const float* from, int first, int rows, int count, int row,
                                          int step, float scale, float* to) {
  for (int i = 4 * thread_number(); i < count * row; i += 4 * kThreads) {
    const int n = i / row;
    const int column = i % row;
    float4 value = make_float4(0, 0, 0, 0);
    if (first + n < rows) value = load4(from + std::int64_t{first + n} * row + column);
    store4(to + n * step + column,
           make_float4(scale * value.x, scale * value.y, scale * value.z, scale * value.w));
  }
}

// f's weights of a replica into shared memory: (hidden, {w1, w2}, H) and b2 (H), zeros where there are fewer
// heads than H. They are rounded where tensor cores multiply.
template <int H, Mlp kMlp>
__device__ __forceinline__ void load_mlp(const AttentionInputs& in, int replica, float* weights, float* b2) {
  const int heads = static_cast<int>(in.shape.heads);
  const int hidden = static_cast<int>(in.shape.hidden);
  const std::int64_t before = std::int64_t{replica} * heads * hidden;
  for (int i = thread_number(); i < hidden * H; i += kThreads) {
    const int n = i / H;
    const int h = i % H;
    const float w1 = h < heads ? in.w1[before + h * hidden + n] : 0;
    const float w2 = h < heads ? in.w2[before + n * heads + h] : 0;
    weights[n * 2 * H + h] = kMlp == Mlp::kTf32 ? to_tf32(w1) : w1;
    weights[n * 2 * H + H + h] = kMlp == Mlp::kTf32 ? to_tf32(w2) : w2;
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

// Whether tensor cores compute the f of 8 heads.
inline bool runs_tf32(const KernelCall& call, const AttentionShape& shape) {
  return call.precision == GpuPrecision::kTf32 && shape.hidden % 8 == 0;
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
