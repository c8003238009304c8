// Gradients of attention_forward.cu's operation, which recomputes the logits A, f's hidden layer and the
// weights P from q, k and the log sums. With g the gradient of the result and S = A + B + f:
//
//   dP = g v,  dS = P (dP - mean), mean = sum over the keys of P dP = g out,  dB = dS, db2 = dS,
//   d_active = w2 dS, d_before = d_active LeakyReLU', dC = d_before, dw1 = A d_before, dw2 = active dS,
//   dA = dS + w1 d_before,  dq = dA k / sqrt(width), dk = dA q / sqrt(width), dv = P g.
//
// Operations a pair: 10 heads width, and 14 heads hidden in f. Bytes of memory traffic: an example's q, k, v,
// result and their gradients, with q, g and dq once more for every 16 keys (from the second-level cache); and
// what a part of the examples shares, once a tile by offset, once a pair by pair.
//
// A block takes the examples of one part one after the other, one split of their tiles of 16 keys, and for
// each tiles of 16 queries. Where there are several splits, each has its sum of dq. Products:
// attention_backward_products.h; f: attention_backward_mlp.h.
// Gradients of what examples share are summed within a part in the order of examples and tiles, then over the
// parts in order; how many parts there are depends on the shape only.
#include <type_traits>

#include "models/ops/attention/attention_backward_mlp.h"
#include "models/ops/attention/attention_backward_products.h"
#include "models/ops/attention/attention_backward_sums.h"

namespace che::gpu {
namespace {

struct BackwardOperands {
  const float* log_sums;           // (replicas, batch, heads, queries)
  const float* means;              // likewise
  ExampleView<const float> d_out;  // (queries, heads, head_width) per example
  ExampleView<float> d_q, d_k, d_v;
  bool wants_bias;
  bool bias_by_offset;
  Division division;
  float* pair_sums;    // (replicas, division.pair_sums(), places.w1)
  float* weight_sums;  // (replicas, division.weight_sums(), division.weights())
  float* d_q_sums;     // (splits, replicas, batch, queries, heads, head_width); null with one split
};

// with_kernel has the other parameters, BackwardLayout kSharesV.
template <int H, int kColumns, GpuPrecision kPrecision, bool kSharesV>
__global__ void __launch_bounds__(kThreads, blocks_at_once(H, kColumns, kPrecision))
    attention_backward(AttentionInputs in, BackwardOperands operands) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  constexpr bool kTf32 = kPrecision == GpuPrecision::kTf32;
  float* const shared = reinterpret_cast<float*>(shared_bytes);
  const int heads = static_cast<int>(in.shape.heads);
  const int width = static_cast<int>(in.shape.head_width);
  const int queries = static_cast<int>(in.shape.queries);
  const int keys = static_cast<int>(in.shape.keys);
  const int hidden = static_cast<int>(in.shape.hidden);
  const int thread = thread_number();
  const int warp = thread / kWarp;
  const int lane = thread % kWarp;
  const Division& division = operands.division;
  const SharedSums& places = division.places;
  const std::int64_t part = blockIdx.x;
  const std::int64_t replica = blockIdx.y;
  const std::int64_t split = blockIdx.z;
  const std::int64_t tiles = (keys + kKeys - 1) / kKeys;
  const int first_key = static_cast<int>(split * tiles / division.splits) * kKeys;
  const int end_key = min(keys, static_cast<int>((split + 1) * tiles / division.splits) * kKeys);
  const BackwardLayout layout(heads, width, H == 0 ? heads : H, hidden, kTf32, kSharesV);
  const int row = layout.row;
  float* const q = shared + layout.q;
  float* const g = shared + layout.d_out;
  float* const k = shared + layout.k;
  float* const v = shared + layout.v;
  float* const logits = shared + layout.logits;
  float* const weights = shared + layout.weights;
  float* const gradients = shared + layout.gradients;
  float* const active = shared + layout.active;
  float* const d_before = shared + layout.d_before;
  float* const mlp = shared + layout.mlp;
  float* const d_mlp = shared + layout.d_mlp;
  float* const b2 = shared + layout.b2;
  float* const d_b2 = shared + layout.d_b2;
  float* const d_logits = H == 0 ? gradients : logits;
  const float scale = rsqrtf(static_cast<float>(width));
  const std::int64_t number = replica * division.parts + part;
  float* const pair_sums =
      operands.pair_sums + (division.by_pair ? number : number * division.splits + split) * places.w1;
  float* const weight_sums = operands.weight_sums + (number * division.splits + split) * division.weights();
  if (division.by_pair && division.splits > 1) {
    const int span = end_key - first_key;
    for (std::int64_t i = thread; i < places.w1 / keys * span; i += kThreads) {
      pair_sums[i / span * keys + first_key + i % span] = 0;
    }
  } else {
    for (std::int64_t i = thread; i < places.w1; i += kThreads) pair_sums[i] = 0;
  }
  if constexpr (H > 0) {
    load_mlp<H, kPrecision>(in, static_cast<int>(replica), mlp, b2);
    for (int i = thread; i < hidden * 2 * H; i += kThreads) d_mlp[i] = 0;
    for (int h = thread; h < H; h += kThreads) d_b2[h] = 0;
    for (int i = heads * kHeadStep + thread; i < H * kHeadStep; i += kThreads) logits[i] = gradients[i] = 0;
  }

  const std::int64_t end = (part + 1) * in.shape.batch / division.parts;
  for (std::int64_t example = part * in.shape.batch / division.parts; example < end; ++example) {
    float* const d_q_rows = operands.d_q_sums == nullptr
                                ? example_of(operands.d_q, replica, example)
                                : operands.d_q_sums + split * division.queries +
                                      (replica * in.shape.batch + example) * queries * row;
    for (int key0 = first_key; key0 < end_key; key0 += kKeys) {
      load_rows<kPrecision>(example_of(in.k, replica, example), key0, keys, kKeys, row, layout.step, 1, k);
      if constexpr (!kSharesV) {
        load_rows<kPrecision>(example_of(in.v, replica, example), key0, keys, kKeys, row, layout.step, 1, v);
      }
      ProductTile products_tile{layout, heads, width, q, g, k, v, 0, keys - key0};
      std::conditional_t<kTf32, TensorProducts<kColumns>, Fp32Products<kColumns>> products;
      // The tile of the first query that sees key0. A split whose first keys some do not see gives these no
      // dq.
      const int from = in.shape.causal ? max(0, key0 - (keys - queries)) / kQueries * kQueries : 0;
      for (int query = 0; key0 == first_key && query < from; ++query) {
        for (int c = thread; c < row; c += kThreads) d_q_rows[std::int64_t{query} * row + c] = 0;
      }
      for (int query0 = from; query0 < queries; query0 += kQueries) {
        load_rows<kPrecision>(example_of(in.q, replica, example), query0, queries, kQueries, row,
                              layout.q_step, scale, q);
        load_rows<kPrecision>(example_of(operands.d_out, replica, example), query0, queries, kQueries, row,
                              layout.q_step, 1, g);
        if constexpr (kSharesV) {
          load_rows<kPrecision>(example_of(in.v, replica, example), key0, keys, kKeys, row, layout.step, 1,
                                v);
        }
        __syncthreads();

        products_tile.queries = queries - query0;
        products.multiply(products_tile, logits, gradients);
        __syncthreads();

        const MlpTile tile{in,     replica,   query0, key0,     mlp,   b2,
                           logits, gradients, active, d_before, d_mlp, pair_sums + places.hidden_bias};
        // P and dS of a pair, from its logit.
        const auto set_weight = [&](int pair, int h, float logit) {
          const int query = tile.query(pair);
          if (in.bias.data != nullptr) logit += __ldg(tile.value(in.bias, h, pair));
          const bool is_pair = tile.has(pair);
          const int at = h * kHeadStep + pair;
          const std::int64_t of_query = (replica * in.shape.batch + example) * heads * queries +
                                        min(query, queries - 1) + std::int64_t{h} * queries;
          const float power = is_pair ? __expf(logit - __ldg(operands.log_sums + of_query)) : 0;
          const float gradient = is_pair ? power * (gradients[at] - __ldg(operands.means + of_query)) : 0;
          weights[at] = power;
          gradients[at] = gradient;
          if (is_pair && operands.wants_bias && !operands.bias_by_offset) {
            tile.add_by_pair(pair_sums + places.bias, h, pair, gradient);
          }
          return gradient;
        };
        if constexpr (H == 0) {
          for (int h = 0; h < heads; ++h) set_weight(thread, h, logits[h * kHeadStep + thread]);
        } else if constexpr (kTf32) {
          mlp_backward_tf32(tile, set_weight);
        } else {
          mlp_backward_fp32<H>(tile, set_weight);
        }
        __syncthreads();

        if (operands.wants_bias && operands.bias_by_offset) {
          add_diagonals<kHeadStep, 1>(gradients, heads, queries, keys, query0, key0, pair_sums + places.bias);
        }
        if constexpr (H > 0) {
          for (int h = warp; h < heads; h += kWarps) {
            float sum = 0;
            for (int p = lane; p < kPairs; p += kWarp) sum += gradients[h * kHeadStep + p];
            sum = warp_sum(sum);
            if (lane == 0) d_b2[h] += sum;
          }
        }
        products.add(products_tile, d_logits, weights, scale, key0 == first_key,
                     d_q_rows + std::int64_t{query0} * row);
        __syncthreads();
      }
      products.store(products_tile, example_of(operands.d_k, replica, example) + std::int64_t{key0} * row,
                     example_of(operands.d_v, replica, example) + std::int64_t{key0} * row);
    }
  }
  if constexpr (H > 0) {
    for (int i = thread; i < heads * hidden; i += kThreads) {
      const int n = i / heads;
      const int h = i % heads;
      weight_sums[h * hidden + n] = d_mlp[n * 2 * H + h];
      weight_sums[places.w2 - places.w1 + i] = d_mlp[n * 2 * H + H + h];
    }
    for (int h = thread; h < heads; h += kThreads) weight_sums[places.b2 - places.w1 + h] = d_b2[h];
  }
}

bool attention_serves(const AttentionShape& shape, bool has_gradients) {
  return forward_serves(shape) &&
         (!has_gradients ||
          (backward_layout(shape, false).bytes() <= max_shared_bytes() &&
           (!suits_tf32(shape) || backward_layout(shape, true).bytes() <= max_shared_bytes())));
}

int backward(const KernelCall& call, const AttentionInputs& in, const float* saved,
             const ExampleView<const float>& d_out, const AttentionGradients& out) {
  const AttentionShape& shape = in.shape;
  if (!attention_serves(shape, true)) return kKernelNotServed;
  if (is_empty(shape)) return kKernelDone;
  const Division division(in, out);
  const SharedSums& places = division.places;
  const std::int64_t rows = divided_up(rows_of_heads(shape), 4) * 4;
  const std::int64_t query_sums = division.splits > 1 ? division.splits * division.queries : 0;
  const std::int64_t pair_sums = shape.replicas * division.pair_sums() * places.w1;
  float* const means =
      call.allocate(call.owner, rows + query_sums + pair_sums +
                                    shape.replicas * division.weight_sums() * division.weights());
  float* const d_q_sums = means + rows;
  const BackwardOperands operands{saved,
                                  means,
                                  d_out,
                                  out.d_q,
                                  out.d_k,
                                  out.d_v,
                                  out.d_bias.data != nullptr,
                                  out.d_bias.by_offset,
                                  division,
                                  d_q_sums + query_sums,
                                  d_q_sums + query_sums + pair_sums,
                                  division.splits > 1 ? d_q_sums : nullptr};
  int error = launch(&attention_means, dim3(blocks(divided_up(rows_of_heads(shape), kThreads))),
                     dim3(kThreads), std::int64_t{0}, call.stream, shape, runs_tf32(call, shape), d_out,
                     saved + saved_out(shape), means);
  if (error != kKernelDone) return error;
  error = with_kernel(call, shape, [&]<int H, int kColumns, GpuPrecision kPrecision>() {
    const BackwardLayout layout = backward_layout(shape, kPrecision == GpuPrecision::kTf32);
    const auto start = [&](auto* kernel) {
      return launch(kernel, dim3(blocks(division.parts), blocks(shape.replicas), blocks(division.splits)),
                    dim3(kThreads), layout.bytes(), call.stream, in, operands);
    };
    if constexpr (H == kHeadsThatShareV) {
      if (layout.shares_v()) return start(&attention_backward<H, kColumns, kPrecision, true>);
    }
    return start(&attention_backward<H, kColumns, kPrecision, false>);
  });
  if (error == kKernelDone && division.splits > 1) {
    error = launch(&attention_add_queries, dim3(blocks(divided_up(division.queries, 4 * kThreads))),
                   dim3(kThreads), std::int64_t{0}, call.stream, shape, division,
                   static_cast<const float*>(d_q_sums), out.d_q);
  }
  if (error != kKernelDone || places.end == 0) return error;
  const std::int64_t pair_blocks = sum_blocks(places.w1);
  return launch(
      &attention_add_up, dim3(blocks(pair_blocks + sum_blocks(division.weights())), blocks(shape.replicas)),
      dim3(kSumThreads), kSumBytes, call.stream, shape, division, pair_blocks,
      static_cast<const float*>(operands.pair_sums), static_cast<const float*>(operands.weight_sums), out);
}

// A pass without gradients over a bias by pair: f's hidden bias of 64 features for so many queries over 1,000
// keys takes 128 MiB of each replica.
constexpr std::int64_t kQueryBlock = 512;

}  // namespace

AttentionKernels attention_kernels() {
  return {.serves = attention_serves,
          .query_block = kQueryBlock,
          .saved_values = saved_values,
          .forward = attention_forward,
          .backward = backward};
}

}  // namespace che::gpu
