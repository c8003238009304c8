// The part of attention_backward.cu that computes f on a tile: the weights P, dS, and the gradients of f's
// input and parameters. It runs in fp32 with a thread for each pair, or on tensor cores.
#pragma once

#include "models/ops/attention/attention_backward_tiles.h"

namespace che::gpu {

// f on a tile: what a block keeps of it in shared memory, and where sums of gradients are.
struct MlpTile {
  const AttentionInputs& in;
  std::int64_t replica;
  int query0, key0;
  const float *mlp, *b2;
  float *logits, *gradients;  // A, and dP; they become dA and dS.
  float *active, *d_before;   // kHiddenAtOnce features of each pair.
  float* d_mlp;
  float* d_hidden_bias;  // (hidden, pairs)

  __device__ __forceinline__ int hidden() const { return static_cast<int>(in.shape.hidden); }
  __device__ __forceinline__ int queries() const { return static_cast<int>(in.shape.queries); }
  __device__ __forceinline__ int keys() const { return static_cast<int>(in.shape.keys); }
  __device__ __forceinline__ int query(int pair) const { return query0 + pair / kKeys; }
  __device__ __forceinline__ int key(int pair) const { return key0 + pair % kKeys; }

  // Whether the tile's pair is one of the sequence's.
  __device__ __forceinline__ bool has(int pair) const {
    const int end = in.shape.causal ? visible_keys(queries(), keys(), query(pair)) : keys();
    return query(pair) < queries() && key(pair) < end;
  }

  // The value of a row of `view` for the pair.
  __device__ __forceinline__ const float* value(const PairView<const float>& view, int row, int pair) const {
    return view.data + replica * view.replica_stride + row * view.row_stride +
           pair_index(view.by_offset, queries(), keys(), min(query(pair), queries() - 1),
                      min(key(pair), keys() - 1));
  }

  // Adds to the gradient of a row of values by pair, which no other thread of the block adds to.
  __device__ __forceinline__ void add_by_pair(float* sums, int row, int pair, float gradient) const {
    sums[(std::int64_t{row} * queries() + query(pair)) * keys() + key(pair)] += gradient;
  }

  // Adds what d_before holds of features from n0 on to the gradient of the hidden bias by offset.
  template <int kRowStep, int kPairStep>
  __device__ __forceinline__ void add_by_offset(int n0, int count) const {
    add_diagonals<kRowStep, kPairStep>(d_before, count, queries(), keys(), query0, key0,
                                       d_hidden_bias + std::int64_t{n0} * (2 * keys() - 1));
  }
};

// set_weight(pair, head, logit) sets P and dS, and returns dS. A thread takes a pair with all its heads in
// registers, 8 hidden features at a time, over whose pairs each warp then sums one.
template <int H, class SetWeight>
__device__ __forceinline__ void mlp_backward_fp32(const MlpTile& tile, const SetWeight& set_weight) {
  const int thread = thread_number();
  const int warp = thread / kWarp;
  const int lane = thread % kWarp;
  const PairView<const float>& view = tile.in.hidden_bias;
  const float* const c = tile.value(view, 0, thread);
  float a[H], d_a[H], d_s[H];
#pragma unroll
  for (int h = 0; h < H; ++h) {
    a[h] = tile.logits[h * kHeadStep + thread];
    d_a[h] = a[h] + tile.b2[h];
  }
#pragma unroll 2
  for (int n = 0; n < tile.hidden(); ++n) {
    const float* const w = tile.mlp + n * 2 * H;
    float x = __ldg(c + n * view.row_stride);
#pragma unroll
    for (int h = 0; h < H; ++h) x += w[h] * a[h];
    x = fmaxf(x, kSlope * x);
#pragma unroll
    for (int h = 0; h < H; ++h) d_a[h] += w[H + h] * x;
  }
#pragma unroll
  for (int h = 0; h < H; ++h) {
    d_s[h] = h < tile.in.shape.heads ? set_weight(thread, h, d_a[h]) : 0;
    d_a[h] = d_s[h];
  }
  for (int n0 = 0; n0 < tile.hidden(); n0 += kHiddenAtOnce) {
    const int count = min(kHiddenAtOnce, tile.hidden() - n0);
#pragma unroll 2
    for (int m = 0; m < count; ++m) {
      const float* const w = tile.mlp + (n0 + m) * 2 * H;
      float x = __ldg(c + (n0 + m) * view.row_stride);
      float d_x = 0;
#pragma unroll
      for (int h = 0; h < H; ++h) {
        x += w[h] * a[h];
        d_x += w[H + h] * d_s[h];
      }
      const float slope = x > 0 ? 1 : kSlope;
      d_x *= slope;
#pragma unroll
      for (int h = 0; h < H; ++h) d_a[h] += w[h] * d_x;
      tile.active[m * kPairs + thread] = x * slope;
      tile.d_before[m * kPairs + thread] = d_x;
      if (!view.by_offset && tile.has(thread)) tile.add_by_pair(tile.d_hidden_bias, n0 + m, thread, d_x);
    }
    __syncthreads();
    if (warp < count) {
      float d_w1[H] = {};
      float d_w2[H] = {};
      for (int p = lane; p < kPairs; p += kWarp) {
        const float d_x = tile.d_before[warp * kPairs + p];
        const float x = tile.active[warp * kPairs + p];
#pragma unroll
        for (int h = 0; h < H; ++h) {
          d_w1[h] += tile.logits[h * kHeadStep + p] * d_x;
          d_w2[h] += tile.gradients[h * kHeadStep + p] * x;
        }
      }
      float* const to = tile.d_mlp + (n0 + warp) * 2 * H;
#pragma unroll
      for (int h = 0; h < H; ++h) {
        const float first = warp_sum(d_w1[h]);
        const float second = warp_sum(d_w2[h]);
        if (lane != 0) continue;
        to[h] += first;
        to[H + h] += second;
      }
    }
    if (view.by_offset) tile.add_by_offset<kPairs, 1>(n0, count);
    __syncthreads();
  }
#pragma unroll
  for (int h = 0; h < H; ++h) tile.logits[h * kHeadStep + thread] = d_a[h];
}

// This does the same for 8 heads and a multiple of 8 features, with products in TF32. A warp takes two
// queries, whose 16 keys are the rows of products, for 8 features at a time. Feature 2t takes place t of a
// product's inner axis, and 2t + 1 place t + 4, so that a result is the next operand as it lies in registers.
// For the parameters' gradients features are the rows, 8 of d_before and 8 of active, and the warp's pairs
// the inner axis. The sums of the warps are then added up in their order.
template <class SetWeight>
__device__ __forceinline__ void mlp_backward_tf32(const MlpTile& tile, const SetWeight& set_weight) {
  constexpr int kH = 8;
  static_assert(kKeys == 16 && kHiddenAtOnce == 8);
  const int thread = thread_number();
  const int warp = thread / kWarp;
  const int t = thread % 4;
  const int g = thread % kWarp / 4;
  const int first = warp * kWarp;  // The warp's first pair.
  const PairView<const float>& view = tile.in.hidden_bias;
  // The place of value i of the lane's operand (16 pairs, 8 heads), from pair `row0` on.
  const auto place = [&](int row0, int i) { return (t + i / 2 * 4) * kHeadStep + row0 + g + i % 2 * 8; };
  float a[2][4];
  float d_a[2][4];
  const float* c[2][2];  // Values of the lane's pairs g and g + 8, feature 2t.
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row0 = first + half * kKeys;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      a[half][i] = to_tf32(tile.logits[place(row0, i)]);
      const int h = 2 * t + i % 2;
      d_a[half][i] = tile.logits[h * kHeadStep + row0 + g + i / 2 * 8] + tile.b2[h];
    }
    for (int i = 0; i < 2; ++i) {
      c[half][i] = tile.value(view, 2 * t, row0 + g + i * 8);
    }
  }
  __syncwarp();  // All lanes have read what is rounded for the weights' gradients.
#pragma unroll
  for (int i = 0; i < 8; ++i) tile.logits[place(first + i / 4 * kKeys, i % 4)] = a[i / 4][i % 4];
  // x (16, 8 features) = C + A w1.
  const auto before = [&](int half, int n0, const float(&w1)[2], float(&x)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = __ldg(c[half][i / 2] + (n0 + i % 2) * view.row_stride);
    mma_tf32(x, a[half], w1);
  };
#pragma unroll 2
  for (int n0 = 0; n0 < tile.hidden(); n0 += kHiddenAtOnce) {
    const float* const w = tile.mlp + n0 * 2 * kH;
    const float w1[2] = {w[g * 2 * kH + t], w[g * 2 * kH + t + 4]};
    const float w2[2] = {w[2 * t * 2 * kH + kH + g], w[(2 * t + 1) * 2 * kH + kH + g]};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float x[4];
      before(half, n0, w1, x);
#pragma unroll
      for (float& value : x) value = fmaxf(value, kSlope * value);
      const float active[4] = {to_tf32(x[0]), to_tf32(x[2]), to_tf32(x[1]), to_tf32(x[3])};
      mma_tf32(d_a[half], active, w2);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int h = 2 * t + i % 2;
      const int pair = first + half * kKeys + g + i / 2 * 8;
      d_a[half][i] = h < tile.in.shape.heads ? set_weight(pair, h, d_a[half][i]) : 0;
    }
  }
  __syncwarp();
  float d_s[2][4];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    d_s[i / 4][i % 4] = to_tf32(tile.gradients[place(first + i / 4 * kKeys, i % 4)]);
  }

  for (int n0 = 0; n0 < tile.hidden(); n0 += kHiddenAtOnce) {
    const float* const w = tile.mlp + n0 * 2 * kH;
    const float w1[2] = {w[g * 2 * kH + t], w[g * 2 * kH + t + 4]};
    const float w2[2] = {w[g * 2 * kH + kH + t], w[g * 2 * kH + kH + t + 4]};
    const float to_a[2] = {w[2 * t * 2 * kH + g], w[(2 * t + 1) * 2 * kH + g]};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float x[4];
      float d_x[4] = {};
      before(half, n0, w1, x);
      mma_tf32(d_x, d_s[half], w2);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float slope = x[i] > 0 ? 1 : kSlope;
        x[i] = to_tf32(x[i] * slope);
        d_x[i] = to_tf32(d_x[i] * slope);
      }
      const float d_before[4] = {d_x[0], d_x[2], d_x[1], d_x[3]};
      mma_tf32(d_a[half], d_before, to_a);
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const int at = (first + half * kKeys + g + i * 4) * kHiddenAtOnce + 2 * t;
        store2(tile.active + at, x[i], x[i + 1]);
        store2(tile.d_before + at, d_x[i], d_x[i + 1]);
      }
      for (int i = 0; !view.by_offset && i < 4; ++i) {
        const int pair = first + half * kKeys + g + i / 2 * 8;
        if (tile.has(pair)) tile.add_by_pair(tile.d_hidden_bias, n0 + 2 * t + i % 2, pair, d_x[i]);
      }
    }
    __syncwarp();
    float d_w1[4] = {};
    float d_w2[4] = {};
#pragma unroll
    for (int pair0 = first; pair0 < first + kWarp; pair0 += 8) {
      const int at = (pair0 + t) * kHiddenAtOnce + g;
      const float features[4] = {tile.d_before[at], tile.active[at], tile.d_before[at + 4 * kHiddenAtOnce],
                                 tile.active[at + 4 * kHiddenAtOnce]};
      const int head = g * kHeadStep + pair0 + t;
      const float of_a[2] = {tile.logits[head], tile.logits[head + 4]};
      const float of_s[2] = {to_tf32(tile.gradients[head]), to_tf32(tile.gradients[head + 4])};
      mma_tf32(d_w1, features, of_a);
      mma_tf32(d_w2, features, of_s);
    }
    __syncwarp();  // All lanes have read what others overwrite below.
    float* const own = tile.active + first * kHiddenAtOnce + g * 2 * kH + 2 * t;
    store2(own, d_w1[0], d_w1[1]);
    store2(own + kH, d_w2[2], d_w2[3]);
    __syncthreads();
    if (thread < kHiddenAtOnce * 2 * kH) {
      float sum = 0;
#pragma unroll
      for (int other = 0; other < kWarps; ++other) sum += tile.active[other * kWarp * kHiddenAtOnce + thread];
      tile.d_mlp[n0 * 2 * kH + thread] += sum;
    }
    if (view.by_offset) tile.add_by_offset<1, kHiddenAtOnce>(n0, kHiddenAtOnce);
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      tile.logits[(2 * t + i % 2) * kHeadStep + first + half * kKeys + g + i / 2 * 8] = d_a[half][i];
    }
  }
}

}  // namespace che::gpu
