// DAPE's MLP across heads (arXiv 2405.14722) on vectors of queries: at a pair with logits A_h,
//
//   pre_n = C_n + sum_h w1_hn A_h,  f_h = b2_h + sum_n w2_nh LeakyReLU_0.01(pre_n),
//
// C = w1_bias B + b1 the same for all examples, or, where B is by running sums, with running sums of its own,
// w1_bias times those of B. 4 H D operations a pair forward, 10 H D backward, which
// forms the hidden layer again; no hidden layer is ever in memory but for a few keys of the backward
// pass. Included once for every instruction set.
#if defined(CHE_MODELS_OPS_ATTENTION_PAIR_MLP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CHE_MODELS_OPS_ATTENTION_PAIR_MLP_INL_H_
#undef CHE_MODELS_OPS_ATTENTION_PAIR_MLP_INL_H_
#else
#define CHE_MODELS_OPS_ATTENTION_PAIR_MLP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "models/ops/attention/attention_simd.h"
#include "models/ops/attention/running_sums-inl.h"
#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kSlope = 0.01F;  // LeakyReLU's.

// The logits of one key and a vector of queries by head, padded with zeros to H.
template <int H>
HWY_INLINE void load_heads(const float* values, std::int64_t head_step, std::int64_t heads,
                           Vector (&loaded)[H]) {
  const Floats d;
#pragma GCC unroll 16
  for (int h = 0; h < H; ++h) loaded[h] = h < heads ? hn::LoadU(d, values + h * head_step) : hn::Zero(d);
}

// sum + weights . values over the heads, in two chains.
template <int H>
HWY_INLINE Vector dot(Vector sum, const float* weights, const Vector (&values)[H]) {
  const Floats d;
  Vector other = hn::Zero(d);
#pragma GCC unroll 16
  for (int h = 0; h < H; h += 2) {
    sum = hn::MulAdd(hn::Set(d, weights[h]), values[h], sum);
    other = hn::MulAdd(hn::Set(d, weights[h + 1]), values[h + 1], other);
  }
  return hn::Add(sum, other);
}

// logits (heads, keys, ...), one vector of queries from `first` on, become A + f. `sums` are of these
// queries.
template <int H>
void pair_mlp_forward(const AttentionExample& in, std::int64_t first, float* logits, std::int64_t head_step,
                      std::int64_t key_step, const RunningSums& sums) {
  const Floats d;
  const PairMlpWeights& mlp = *in.mlp;
  const std::int64_t keys = in.keys_of(first, kLanes);
  for (std::int64_t key = 0; key < keys; ++key, logits += key_step) {
    Vector a[H];
    Vector f[H];
    load_heads<H>(logits, head_step, in.heads, a);
#pragma GCC unroll 16
    for (int h = 0; h < H; ++h) f[h] = hn::Add(a[h], hn::Set(d, mlp.b2[h]));
    const float* hidden_bias = mlp.hidden_bias.at(0, key, first);
    const float* weights = mlp.weights;
    for (std::int64_t n = 0; n < mlp.hidden;
         ++n, weights += 2 * H, hidden_bias += mlp.hidden_bias.row_stride) {
      Vector bias = hn::LoadU(d, hidden_bias);
      if (sums.defined()) bias = hn::Add(bias, sums.at(n, key));
      const Vector before = dot<H>(bias, weights, a);
      const Vector active = hn::Max(before, hn::Mul(before, hn::Set(d, kSlope)));
#pragma GCC unroll 16
      for (int h = 0; h < H; ++h) f[h] = hn::MulAdd(hn::Set(d, weights[H + h]), active, f[h]);
    }
#pragma GCC unroll 16
    for (int h = 0; h < H; ++h) {
      if (h < in.heads) hn::StoreU(f[h], d, logits + h * head_step);
    }
  }
}

// Scratch of the backward pass: the hidden layer and its gradient for a few keys.
constexpr std::int64_t kKeysAtOnce = 8;

// From the logits A (heads, keys, ...) and the gradient of A + f (heads, keys, ...), one vector
// of queries: the gradient becomes A's in place, what examples share is added to. `scratch` holds
// 2 * (hidden + H) * kKeysAtOnce vectors.
template <int H>
void pair_mlp_backward(const AttentionExample& in, std::int64_t first, const float* logits,
                       std::int64_t logits_head_step, std::int64_t logits_key_step, float* gradient,
                       std::int64_t head_step, std::int64_t key_step, const ExampleGradients& out,
                       float* scratch) {
  const Floats d;
  const PairMlpWeights& mlp = *in.mlp;
  float* const kept_logits = scratch;  // (kKeysAtOnce, H) vectors
  float* const kept_gradient = kept_logits + kKeysAtOnce * H * kLanes;
  float* const hidden = kept_gradient + kKeysAtOnce * H * kLanes;  // (hidden, kKeysAtOnce) vectors
  float* const d_hidden = hidden + mlp.hidden * kKeysAtOnce * kLanes;
  const std::int64_t keys = in.keys_of(first, kLanes);
  RunningSums sums = RunningSums::of_hidden(in, first);
  for (std::int64_t block = 0; block < keys; block += kKeysAtOnce) {
    const std::int64_t count = HWY_MIN(kKeysAtOnce, keys - block);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t key = block + i;
      Vector a[H];
      Vector g[H];
      Vector d_a[H];
      load_heads<H>(logits + key * logits_key_step, logits_head_step, in.heads, a);
      load_heads<H>(gradient + key * key_step, head_step, in.heads, g);
#pragma GCC unroll 16
      for (int h = 0; h < H; ++h) {
        d_a[h] = g[h];
        hn::StoreU(a[h], d, kept_logits + (i * H + h) * kLanes);
        hn::StoreU(g[h], d, kept_gradient + (i * H + h) * kLanes);
      }
      const float* hidden_bias = mlp.hidden_bias.at(0, key, first);
      float* d_hidden_bias = out.d_hidden_bias.at(0, key, first);
      const float* weights = mlp.weights;
      for (std::int64_t n = 0; n < mlp.hidden; ++n, weights += 2 * H) {
        Vector bias = hn::LoadU(d, hidden_bias);
        if (sums.defined()) bias = hn::Add(bias, sums.at(n, key));
        const Vector before = dot<H>(bias, weights, a);
        const Vector after = dot<H>(hn::Zero(d), weights + H, g);
        const auto positive = hn::Gt(before, hn::Zero(d));
        const Vector slope = hn::IfThenElse(positive, hn::Set(d, 1.0F), hn::Set(d, kSlope));
        const Vector d_before = hn::Mul(after, slope);
#pragma GCC unroll 16
        for (int h = 0; h < H; ++h) d_a[h] = hn::MulAdd(hn::Set(d, weights[h]), d_before, d_a[h]);
        hn::StoreU(hn::Mul(before, slope), d, hidden + (n * kKeysAtOnce + i) * kLanes);
        hn::StoreU(d_before, d, d_hidden + (n * kKeysAtOnce + i) * kLanes);
        hn::StoreU(hn::Add(hn::LoadU(d, d_hidden_bias), d_before), d, d_hidden_bias);
        hidden_bias += mlp.hidden_bias.row_stride;
        d_hidden_bias += out.d_hidden_bias.row_stride;
      }
#pragma GCC unroll 16
      for (int h = 0; h < H; ++h) {
        if (h < in.heads) hn::StoreU(d_a[h], d, gradient + key * key_step + h * head_step);
        float* sum = out.d_b2 + h * kQueryTile;
        hn::StoreU(hn::Add(hn::LoadU(d, sum), g[h]), d, sum);
      }
    }
    const auto add_products = [&](const float* left, const float* right, float* totals) HWY_ATTR {
      Vector sum[H];
#pragma GCC unroll 16
      for (int h = 0; h < H; ++h) sum[h] = hn::LoadU(d, totals + h * kQueryTile);
      for (std::int64_t i = 0; i < count; ++i) {
        const Vector factor = hn::LoadU(d, left + i * kLanes);
#pragma GCC unroll 16
        for (int h = 0; h < H; ++h)
          sum[h] = hn::MulAdd(factor, hn::LoadU(d, right + (i * H + h) * kLanes), sum[h]);
      }
#pragma GCC unroll 16
      for (int h = 0; h < H; ++h) hn::StoreU(sum[h], d, totals + h * kQueryTile);
    };
    for (std::int64_t n = 0; n < mlp.hidden; ++n) {
      const float* const of_hidden = d_hidden + n * kKeysAtOnce * kLanes;
      if (sums.defined()) {
        const auto gradient_of = [&](std::int64_t key)
                                     HWY_ATTR { return hn::LoadU(d, of_hidden + (key - block) * kLanes); };
        sums.add(n, block, count, gradient_of, out.d_hidden_sums);
      }
      float* const sums_of_weights = out.d_weights + n * 2 * H * kQueryTile;
      add_products(of_hidden, kept_logits, sums_of_weights);
      add_products(hidden + n * kKeysAtOnce * kLanes, kept_gradient, sums_of_weights + H * kQueryTile);
    }
  }
  sums.add_queries(out.d_hidden_sums);
}

// Calls f with the number of heads, padded, as a type.
template <class F>
HWY_INLINE void with_heads(std::int64_t heads, const F& f) {
  if (heads == 2) f(std::integral_constant<int, 2>());
  if (heads == 4) f(std::integral_constant<int, 4>());
  if (heads == 8) f(std::integral_constant<int, 8>());
  if (heads == 16) f(std::integral_constant<int, 16>());
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
