// How the work of attention_backward.cu is divided among blocks, what they leave in memory, and the kernels
// before and after it.
#pragma once

#include "models/ops/attention/attention_backward_tiles.h"

namespace che::gpu {

// A replica's blocks, so that each of an H100's 132 processors has four: an example's keys are split for it.
constexpr std::int64_t kBlocksAimedAt = 528;
constexpr std::int64_t kMaxSplits = 8;  // So many sums of dq are in memory at a time.

// Examples' gradients of shared pairs take this many times their size in the workspace, or less.
constexpr std::int64_t kMaxPartsByOffset = 128;
constexpr std::int64_t kMaxPartsByPair = 32;

// Says where each gradient of what examples share begins among a part's sums. Each is like that of one
// replica.
struct SharedSums {
  std::int64_t bias, hidden_bias, w1, w2, b2, end;

  SharedSums(const AttentionShape& shape, const PairView<const float>& hidden_pairs,
             const PairView<float>& bias_pairs) {
    const auto pairs = [&](bool by_offset) { return pairs_of_row(by_offset, shape.queries, shape.keys); };
    bias = 0;
    hidden_bias = bias_pairs.data == nullptr ? 0 : shape.heads * pairs(bias_pairs.by_offset);
    w1 = hidden_bias + shape.hidden * pairs(hidden_pairs.by_offset);
    w2 = w1 + shape.heads * shape.hidden;
    b2 = w2 + shape.heads * shape.hidden;
    end = b2 + (shape.hidden == 0 ? 0 : shape.heads);
  }
};

// How the work on a replica is divided among blocks; it depends on the shape only.
struct Division {
  SharedSums places;
  bool by_pair;          // Whether pairs' gradients are, so that those of two splits do not overlap.
  std::int64_t parts;    // How many blocks the examples are divided among.
  std::int64_t splits;   // How many blocks an example's tiles of keys are divided among.
  std::int64_t queries;  // How many values d_q has, over all replicas.

  Division(const AttentionInputs& in, const AttentionGradients& out)
      : places(in.shape, in.hidden_bias, out.d_bias),
        by_pair(false),
        parts(in.shape.batch),
        splits(1),
        queries(0) {
    const AttentionShape& shape = in.shape;
    const bool has_bias = out.d_bias.data != nullptr;
    by_pair = (has_bias && !out.d_bias.by_offset) || (shape.hidden > 0 && !in.hidden_bias.by_offset);
    if (places.end > 0) parts = min(shape.batch, by_pair ? kMaxPartsByPair : kMaxPartsByOffset);
    const bool is_mixed = has_bias && shape.hidden > 0 && out.d_bias.by_offset != in.hidden_bias.by_offset;
    const std::int64_t most = min(kMaxSplits, divided_up(shape.keys, kKeys));
    if (!is_mixed) splits = min(most, divided_up(kBlocksAimedAt, parts * shape.replicas));
    queries = shape.replicas * shape.batch * shape.queries * shape.heads * shape.head_width;
  }

  // Sums of pairs' gradients, and of the weights' behind them, that each replica has.
  __host__ __device__ std::int64_t pair_sums() const { return parts * (by_pair ? 1 : splits); }
  __host__ __device__ std::int64_t weight_sums() const { return parts * splits; }
  __host__ __device__ std::int64_t weights() const { return places.end - places.w1; }  // Values of a sum.
};

// means (examples, heads, queries) of the weights' gradients: g out, both (examples, queries, heads, width).
// g is rounded as for the gradients themselves: else those of a query would not add up to zero.
static __global__ void __launch_bounds__(kThreads)
    attention_means(AttentionShape shape, bool is_tf32, ExampleView<const float> d_out, const float* out,
                    float* means) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + thread_number();
  const std::int64_t head = at % shape.heads;
  const std::int64_t query = at / shape.heads % shape.queries;
  const std::int64_t number = at / shape.heads / shape.queries;
  if (number >= shape.replicas * shape.batch) return;
  const std::int64_t place = (query * shape.heads + head) * shape.head_width;
  const float* const g = example_of(d_out, number / shape.batch, number % shape.batch) + place;
  const float* const o = out + number * shape.queries * shape.heads * shape.head_width + place;
  float sum = 0;
  for (std::int64_t c = 0; c < shape.head_width; c += 4) {
    const float4 value = load4(g + c);
    sum = dot4(is_tf32 ? to_tf32(value) : value, load4(o + c), sum);
  }
  means[(number * shape.heads + head) * shape.queries + query] = sum;
}

// dq as the sum of those of the splits, in their order. A thread takes four values.
static __global__ void __launch_bounds__(kThreads)
    attention_add_queries(AttentionShape shape, Division division, const float* sums,
                          ExampleView<float> d_q) {
  const std::int64_t i = 4 * (std::int64_t{blockIdx.x} * kThreads + thread_number());
  if (i >= division.queries) return;
  float4 sum = load4(sums + i);
  for (std::int64_t split = 1; split < division.splits; ++split) {
    const float4 one = load4(sums + split * division.queries + i);
    sum = make_float4(sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w);
  }
  const std::int64_t values = shape.queries * shape.heads * shape.head_width;
  const std::int64_t example = i / values;
  store4(example_of(d_q, example / shape.batch, example % shape.batch) + i % values, sum);
}

// Gradients of what examples share: first those of pairs, then those of f's weights.
static __global__ void __launch_bounds__(kSumThreads)
    attention_add_up(AttentionShape shape, Division division, std::int64_t pair_blocks,
                     const float* pair_sums, const float* weight_sums, AttentionGradients out) {
  const std::int64_t replica = blockIdx.y;
  const SharedSums& places = division.places;
  if (blockIdx.x < pair_blocks) {
    const auto set_pair = [&](const PairView<float>& view, std::int64_t at, float sum) {
      const std::int64_t pairs = view.by_offset ? 2 * shape.keys - 1 : shape.queries * shape.keys;
      view.data[replica * view.replica_stride + at / pairs * view.row_stride + at % pairs] = sum;
    };
    sum_parts(pair_sums, replica, division.pair_sums(), places.w1, blockIdx.x,
              [&](std::int64_t i, float sum) {
                i < places.hidden_bias ? set_pair(out.d_bias, i, sum)
                                       : set_pair(out.d_hidden_bias, i - places.hidden_bias, sum);
              });
    return;
  }
  const std::int64_t weights = shape.heads * shape.hidden;
  sum_parts(weight_sums, replica, division.weight_sums(), division.weights(), blockIdx.x - pair_blocks,
            [&](std::int64_t i, float sum) {
              if (i < weights) {
                out.d_w1[replica * weights + i] = sum;
              } else if (i < 2 * weights) {
                out.d_w2[replica * weights + i - weights] = sum;
              } else {
                out.d_b2[replica * shape.heads + i - 2 * weights] = sum;
              }
            });
}

}  // namespace che::gpu
