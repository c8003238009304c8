// softmax(A + B) v, or softmax(A + B + f) v with A = q k / sqrt(width) and f, DAPE's MLP across heads
// (arXiv 2405.14722): f_h = b2_h + sum_n w2_nh LeakyReLU_0.01(C_n + sum_h w1_hn A_h). q (replicas, batch,
// queries, heads, width), k and v likewise with keys; B and C by offset or by pair, the same for all
// examples.
//
// Operations a pair: 4 heads width, and 4 heads hidden in f. Bytes of memory traffic: an example's q, k, v
// and result once, k and v again for every further 16 queries (from the second-level cache), C's `hidden`
// values a pair likewise.
//
// A block takes 16 queries of one example, all heads; keys pass 32 at a time with a running softmax, so that
// no logits are in memory. Causal attention ends at the tile's last query; what f makes of a later key's
// logit has no weight. Products with k: a warp takes 8 queries of a head, one lane per key. f: a warp takes
// two queries, one lane per key with all its heads in registers. Products with v: a thread takes a column. In
// TF32 tensor cores compute both products with a warp for each head, and the f of 8 heads, whose first
// product's result is the second one's operand as it lies in registers.
#include "models/ops/attention/attention_tiles.h"

namespace che::gpu {
namespace {

constexpr int kKeys = 32;
// Steps of a query and of a head in `scores`: no two of a fragment share a bank.
constexpr int kQueryStep = kKeys + 4;
constexpr int kHeadStep = kQueries * kQueryStep + 8;

struct ForwardLayout {
  int row, q_step, kv_step;
  int q, kv, scores, shrunk, sums, weights, b2, end;  // Places in shared memory.

  // padded_heads are those of f, or all of them without it.
  __host__ __device__ ForwardLayout(int heads, int width, int padded_heads, int hidden, bool tf32) {
    row = heads * width;
    q_step = tf32 ? tensor_step(row) : row;
    kv_step = tf32 ? q_step : row + 4;
    q = 0;
    kv = q + kQueries * q_step;
    scores = kv + kKeys * kv_step;
    shrunk = scores + padded_heads * kHeadStep;
    sums = shrunk + padded_heads * kQueries;
    weights = sums + padded_heads * kQueries;
    b2 = weights + hidden * 2 * padded_heads;
    end = b2 + padded_heads;
  }
};

// scores become A + f for the two queries of the warp, one lane per key.
template <int H>
__device__ __forceinline__ void mlp_fp32(const float* hidden_bias, std::int64_t row_stride,
                                         std::int64_t pair0, std::int64_t pair1, int hidden,
                                         const float* weights, const float* b2, float* scores) {
  float a0[H], a1[H], f0[H], f1[H];
#pragma unroll
  for (int h = 0; h < H; ++h) {
    a0[h] = scores[h * kHeadStep];
    a1[h] = scores[h * kHeadStep + kQueryStep];
    f0[h] = a0[h] + b2[h];
    f1[h] = a1[h] + b2[h];
  }
#pragma unroll 4
  for (int n = 0; n < hidden; ++n, hidden_bias += row_stride, weights += 2 * H) {
    float x0 = __ldg(hidden_bias + pair0);
    float x1 = __ldg(hidden_bias + pair1);
#pragma unroll
    for (int h = 0; h < H; ++h) {
      x0 += weights[h] * a0[h];
      x1 += weights[h] * a1[h];
    }
    x0 = fmaxf(x0, kSlope * x0);
    x1 = fmaxf(x1, kSlope * x1);
#pragma unroll
    for (int h = 0; h < H; ++h) {
      f0[h] += weights[H + h] * x0;
      f1[h] += weights[H + h] * x1;
    }
  }
#pragma unroll
  for (int h = 0; h < H; ++h) {
    scores[h * kHeadStep] = f0[h];
    scores[h * kHeadStep + kQueryStep] = f1[h];
  }
}

// scores (8, ...) of 16 keys of one query become A + f. The keys are the rows of both products, (16, heads)
// (heads, 8) and (16, 8) (8, heads), for 8 hidden features at a time. Feature 2t takes place t of the inner
// axis, 2t + 1 place t + 4. pair0 and pair1 are those of the lane's keys row0 and row0 + 8.
__device__ __forceinline__ void mlp_tf32(const float* hidden_bias, std::int64_t row_stride,
                                         std::int64_t pair0, std::int64_t pair1, int hidden,
                                         const float* weights, const float* b2, int row0, int lane,
                                         float* scores) {
  constexpr int kH = 8;
  const int t = lane % 4;
  const int g = lane / 4;
  float* const s = scores + row0;
  const float a[4] = {to_tf32(s[t * kHeadStep]), to_tf32(s[t * kHeadStep + 8]),
                      to_tf32(s[(t + 4) * kHeadStep]), to_tf32(s[(t + 4) * kHeadStep + 8])};
  float f[4] = {s[2 * t * kHeadStep] + b2[2 * t], s[(2 * t + 1) * kHeadStep] + b2[2 * t + 1],
                s[2 * t * kHeadStep + 8] + b2[2 * t], s[(2 * t + 1) * kHeadStep + 8] + b2[2 * t + 1]};
  __syncwarp();  // All lanes have read what others overwrite below.
#pragma unroll 4
  for (int n = 0; n < hidden; n += 8) {
    const float* const c0 = hidden_bias + (n + 2 * t) * row_stride;
    const float* const c1 = c0 + row_stride;
    float x[4] = {__ldg(c0 + pair0), __ldg(c1 + pair0), __ldg(c0 + pair1), __ldg(c1 + pair1)};
    const float* const w = weights + n * 2 * kH;
    const float w1[2] = {w[g * 2 * kH + t], w[g * 2 * kH + t + 4]};
    mma_tf32(x, a, w1);
#pragma unroll
    for (float& value : x) value = fmaxf(value, kSlope * value);
    const float active[4] = {to_tf32(x[0]), to_tf32(x[2]), to_tf32(x[1]), to_tf32(x[3])};
    const float w2[2] = {w[2 * t * 2 * kH + kH + g], w[(2 * t + 1) * 2 * kH + kH + g]};
    mma_tf32(f, active, w2);
  }
  s[2 * t * kHeadStep] = f[0];
  s[(2 * t + 1) * kHeadStep] = f[1];
  s[2 * t * kHeadStep + 8] = f[2];
  s[(2 * t + 1) * kHeadStep + 8] = f[3];
}

// with_columns has the parameters.
template <int H, int kColumns, GpuPrecision kPrecision>
__global__ void __launch_bounds__(kThreads)
    attention_forward(AttentionInputs in, ExampleView<float> out, float* log_sums, float* kept_out) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  constexpr bool kTf32 = kPrecision == GpuPrecision::kTf32;
  constexpr int kTiles = 4 * kColumns;  // Each has 8 columns of the warp's head.
  static_assert(!kTf32 || H == 0 || H == 8);
  float* const shared = reinterpret_cast<float*>(shared_bytes);
  const int heads = static_cast<int>(in.shape.heads);
  const int width = static_cast<int>(in.shape.head_width);
  const int queries = static_cast<int>(in.shape.queries);
  const int keys = static_cast<int>(in.shape.keys);
  const int hidden = static_cast<int>(in.shape.hidden);
  const int thread = thread_number();
  const int warp = thread / kWarp;
  const int lane = thread % kWarp;
  const int first = static_cast<int>(blockIdx.x) * kQueries;
  const int example = static_cast<int>(blockIdx.y);
  const int replica = static_cast<int>(blockIdx.z);
  const std::int64_t number = std::int64_t{replica} * in.shape.batch + example;
  const ForwardLayout layout(heads, width, H == 0 ? heads : H, hidden, kTf32);
  const int row = layout.row;
  float* const q = shared + layout.q;            // (kQueries, row)
  float* const kv = shared + layout.kv;          // (kKeys, row), of k, then of v
  float* const scores = shared + layout.scores;  // (heads, kQueries, kKeys), with their steps
  float* const shrunk = shared + layout.shrunk;  // (heads, kQueries)
  float* const sums = shared + layout.sums;      // likewise
  float* const weights = shared + layout.weights;
  float* const b2 = shared + layout.b2;

  load_rows<kPrecision>(example_of(in.q, replica, example), first, queries, kQueries, row, layout.q_step,
                        rsqrtf(static_cast<float>(width)), q);
  if constexpr (H > 0) {
    load_mlp<H, kPrecision>(in, replica, weights, b2);
    for (int i = heads * kHeadStep + thread; i < H * kHeadStep; i += kThreads) scores[i] = 0;
  }
  // Lane n keeps the largest logit and the sum of powers of the warp's n-th row (head, query) of scores.
  float most = -INFINITY;
  float sum = 0;
  // The sums of a thread's columns; on tensor cores its part of (16, 8) for each tile of the warp's head.
  float total[kTf32 ? kTiles : kColumns][kTf32 ? 4 : kQueries] = {};

  const int end = in.shape.causal ? visible_keys(queries, keys, first + kQueries - 1) : keys;
  for (int key0 = 0; key0 < end; key0 += kKeys) {
    load_rows<kPrecision>(example_of(in.k, replica, example), key0, keys, kKeys, row, layout.kv_step, 1, kv);
    __syncthreads();
    if constexpr (kTf32) {
      float a[kKeys / 8][4] = {};
      if (warp < heads) {
        multiply_rows(q, kv, layout.kv_step, warp * width, width, a);
        store_rows<kQueryStep>(a, scores + warp * kHeadStep);
      }
    } else {
      constexpr int kRows = kQueries / 2;
      for (int item = warp; item < 2 * heads; item += kWarps) {
        const int head = item / 2;
        const int row0 = item % 2 * kRows;
        const float* const key = kv + lane * layout.kv_step + head * width;
        const float* const query = q + row0 * row + head * width;
        float dot[kRows] = {};
        for (int c = 0; c < width; c += 4) {
          const float4 b = load4(key + c);
#pragma unroll
          for (int i = 0; i < kRows; ++i) dot[i] = dot4(load4(query + i * row + c), b, dot[i]);
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) scores[head * kHeadStep + (row0 + i) * kQueryStep + lane] = dot[i];
      }
    }
    __syncthreads();
    load_rows<kPrecision>(example_of(in.v, replica, example), key0, keys, kKeys, row, layout.kv_step, 1, kv);

    if constexpr (H > 0 && !kTf32) {
      const PairView<const float>& c = in.hidden_bias;
      const int i = 2 * warp;
      const int key = min(key0 + lane, keys - 1);
      mlp_fp32<H>(c.data + replica * c.replica_stride, c.row_stride,
                  pair_index(c.by_offset, queries, keys, min(first + i, queries - 1), key),
                  pair_index(c.by_offset, queries, keys, min(first + i + 1, queries - 1), key), hidden,
                  weights, b2, scores + i * kQueryStep + lane);
    } else if constexpr (H > 0) {
      const PairView<const float>& c = in.hidden_bias;
      for (int part = 0; part < 4; ++part) {
        const int i = 2 * warp + part / 2;
        const int row0 = part % 2 * 16 + lane / 4;
        const int query = min(first + i, queries - 1);
        mlp_tf32(c.data + replica * c.replica_stride, c.row_stride,
                 pair_index(c.by_offset, queries, keys, query, min(key0 + row0, keys - 1)),
                 pair_index(c.by_offset, queries, keys, query, min(key0 + row0 + 8, keys - 1)), hidden,
                 weights, b2, row0, lane, scores + i * kQueryStep);
      }
    }
    __syncthreads();

    const float most_before = most;  // Not what the loop changes: its turns wait for nothing of each other.
#pragma unroll 4
    for (int n = 0; n < 2 * heads; ++n) {
      const int at = n * kWarps + warp;
      const int head = at / kQueries;
      const int i = at % kQueries;
      float* const s = scores + head * kHeadStep + i * kQueryStep + lane;
      float x = *s;
      const int key = key0 + lane;
      const int query = min(first + i, queries - 1);
      if (key >= (in.shape.causal ? visible_keys(queries, keys, query) : keys)) {
        x = -INFINITY;
      } else if (in.bias.data != nullptr) {
        x += __ldg(in.bias.data + replica * in.bias.replica_stride + head * in.bias.row_stride +
                   pair_index(in.bias.by_offset, queries, keys, query, key));
      }
      const float before = __shfl_sync(0xffffffffU, most_before, n);
      const float larger = fmaxf(before, warp_max(x));
      const float base = larger == -INFINITY ? 0 : larger;  // Weights of none are 0, not NaN.
      const float power = __expf(x - base);
      const float factor = __expf(before - base);
      const float powers = warp_sum(power);
      *s = power;
      if (lane == n) {
        most = larger;
        sum = sum * factor + powers;
        shrunk[at] = factor;
      }
    }
    __syncthreads();

    if constexpr (kTf32) {
      if (warp < heads) {
#pragma unroll
        for (int i = 0; i < 4 * kTiles; ++i) {
          total[i / 4][i % 4] *= shrunk[warp * kQueries + lane / 4 + i % 4 / 2 * 8];
        }
        // With the remainder attention_means are means of what the backward pass multiplies.
        multiply_columns<kQueryStep, 1, kKeys / 8, true>(scores + warp * kHeadStep, kv, layout.kv_step,
                                                         warp * width, width, total);
      }
    } else {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        const int c = thread + k * kThreads;
        if (c >= row) break;
        const int head = c / width;
#pragma unroll
        for (int i = 0; i < kQueries; ++i) total[k][i] *= shrunk[head * kQueries + i];
#pragma unroll 2
        for (int j = 0; j < kKeys; j += 4) {
          const float* const value = kv + j * layout.kv_step + c;
          const float4 v = make_float4(value[0], value[layout.kv_step], value[2 * layout.kv_step],
                                       value[3 * layout.kv_step]);
#pragma unroll
          for (int i = 0; i < kQueries; ++i) {
            total[k][i] = dot4(load4(scores + head * kHeadStep + i * kQueryStep + j), v, total[k][i]);
          }
        }
      }
    }
    __syncthreads();
  }

  if (lane < 2 * heads) {
    const int at = lane * kWarps + warp;
    const int query = first + at % kQueries;
    sums[at] = sum;
    if (log_sums != nullptr && query < queries) {
      log_sums[(number * heads + at / kQueries) * queries + query] = most + logf(sum);
    }
  }
  __syncthreads();
  const auto store = [&](int i, int c, float value) {
    if (first + i >= queries) return;
    value /= sums[c / width * kQueries + i];
    example_of(out, replica, example)[std::int64_t{first + i} * row + c] = value;
    if (kept_out != nullptr) kept_out[(number * queries + first + i) * row + c] = value;
  };
  if constexpr (kTf32) {
#pragma unroll
    for (int i = 0; i < 4 * kTiles; ++i) {
      if (warp >= heads || i / 4 * 8 >= width) break;
      const int c = i / 4 * 8 + lane % 4 * 2 + i % 2;
      store(lane / 4 + i % 4 / 2 * 8, warp * width + c, total[i / 4][i % 4]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const int c = thread + k * kThreads;
      if (c >= row) break;
#pragma unroll
      for (int i = 0; i < kQueries; ++i) store(i, c, total[k][i]);
    }
  }
}

// Shared memory of a block.
std::int64_t forward_bytes(const AttentionShape& shape, bool tf32) {
  const auto heads = static_cast<int>(shape.heads);
  const ForwardLayout layout(heads, static_cast<int>(shape.head_width),
                             shape.hidden == 0 ? heads : mlp_heads(heads), static_cast<int>(shape.hidden),
                             tf32);
  return std::int64_t{4} * layout.end;
}

}  // namespace

bool forward_serves(const AttentionShape& shape) {
  return serves(shape) && forward_bytes(shape, false) <= max_shared_bytes() &&
         (!suits_tf32(shape) || forward_bytes(shape, true) <= max_shared_bytes());
}

int attention_forward(const KernelCall& call, const AttentionInputs& in, const ExampleView<float>& out,
                      float* saved) {
  const AttentionShape& shape = in.shape;
  if (!forward_serves(shape)) return kKernelNotServed;
  if (is_empty(shape)) return kKernelDone;
  return with_kernel(call, shape, [&]<int H, int kColumns, GpuPrecision kPrecision>() {
    return launch(
        &attention_forward<H, kColumns, kPrecision>,
        dim3(blocks(divided_up(shape.queries, kQueries)), blocks(shape.batch), blocks(shape.replicas)),
        dim3(kThreads), forward_bytes(shape, kPrecision == GpuPrecision::kTf32), call.stream, in, out, saved,
        saved == nullptr ? nullptr : saved + saved_out(shape));
  });
}

}  // namespace che::gpu
