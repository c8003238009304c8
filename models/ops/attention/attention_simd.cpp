#include "models/ops/attention/attention_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/attention/attention_simd.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "models/ops/attention/pair_mlp-inl.h"
#include "models/ops/attention/running_sums-inl.h"
#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {

// A matrix whose element (i, j) is at data[i * row_step + j * column_step].
struct Factor {
  const float* data;
  std::int64_t row_step;
  std::int64_t column_step;
};

// Adds to sum[n] the products of row n of a with min(n, more) rows of b, from number K on.
template <int N, int K, class D>
HWY_INLINE void add_triangle(D d, std::int64_t more, const Factor& a, const float* b, std::int64_t b_step,
                             hn::Vec<D> (&sum)[N]) {
  if constexpr (K + 1 < N) {
    if (K >= more) return;
    const auto right = hn::LoadU(d, b + K * b_step);
    const float* const column = a.data + K * a.column_step;
#pragma GCC unroll 16
    for (int n = K + 1; n < N; ++n) sum[n] = hn::MulAdd(hn::Set(d, column[n * a.row_step]), right, sum[n]);
    add_triangle<N, K + 1>(d, more, a, b, b_step, sum);
  }
}

// N rows of c = alpha a b, one vector of columns: a (N, inner), b (inner, columns) and c with
// neighbouring columns side by side. The inner axis of row n has min(n, more) elements more.
template <int N, class D>
HWY_INLINE void multiply_rows(D d, std::int64_t inner, std::int64_t more, const Factor& a, const float* b,
                              std::int64_t b_step, float alpha, float* c, std::int64_t c_step) {
  hn::Vec<D> sum[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) sum[n] = hn::Zero(d);
  const float* column = a.data;
  for (std::int64_t k = 0; k < inner; ++k, column += a.column_step, b += b_step) {
    const auto right = hn::LoadU(d, b);
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) sum[n] = hn::MulAdd(hn::Set(d, column[n * a.row_step]), right, sum[n]);
  }
  add_triangle<N, 0>(d, more, {column, a.row_step, a.column_step}, b, b_step, sum);
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) hn::StoreU(hn::Mul(sum[n], hn::Set(d, alpha)), d, c + n * c_step);
}

// All `rows` of c, one vector of columns, with `more` as above. Where they are no multiple of the block, the
// last block begins earlier and writes some rows a second time.
template <class D>
HWY_INLINE void multiply_column(D d, std::int64_t rows, std::int64_t inner, std::int64_t more,
                                const Factor& a, const float* b, std::int64_t b_step, float alpha, float* c,
                                std::int64_t c_step) {
  constexpr std::int64_t kBlock = 8;
  const auto rows_from = [&](std::int64_t row, auto count) HWY_ATTR {
    const std::int64_t of_first = HWY_MIN(row, more);
    multiply_rows<decltype(count)::value>(d, inner + of_first, more - of_first,
                                          {a.data + row * a.row_step, a.row_step, a.column_step}, b, b_step,
                                          alpha, c + row * c_step, c_step);
  };
  if (rows < kBlock) {
    for (std::int64_t row = 0; row < rows; ++row) rows_from(row, std::integral_constant<int, 1>());
    return;
  }
  for (std::int64_t row = 0; row < rows; row += kBlock) {
    rows_from(HWY_MIN(row, rows - kBlock), std::integral_constant<int, kBlock>());
  }
}

// c (rows, columns) = alpha a (rows, inner) b (inner, columns); b's and c's columns lie side by side. The
// inner axis of row n has min(n, more) elements more: those of keys that it sees and the rows before do not.
inline void multiply(std::int64_t rows, std::int64_t inner, std::int64_t columns, const Factor& a,
                     const float* b, std::int64_t b_step, float alpha, float* c, std::int64_t c_step,
                     std::int64_t more = 0) {
  const auto pass = [&](auto d, std::int64_t first) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; first + lanes <= columns; first += lanes) {
      multiply_column(d, rows, inner, more, a, b + first, b_step, alpha, c + first, c_step);
    }
    return first;
  };
  std::int64_t done = pass(Floats(), 0);
  done = pass(hn::CappedTag<float, 8>(), done);
  done = pass(hn::CappedTag<float, 4>(), done);
  pass(hn::CappedTag<float, 1>(), done);
}

// A head's columns of `count` rows, transposed, times `scale`: (head_width, kLanes), zeros behind the
// last row.
HWY_INLINE void transpose_rows(const float* rows, std::int64_t row_step, std::int64_t count,
                               std::int64_t head_width, float scale, float* transposed) {
  for (std::int64_t i = 0; i < kLanes; ++i) {
    for (std::int64_t c = 0; c < head_width; ++c) {
      transposed[c * kLanes + i] = i < count ? scale * rows[i * row_step + c] : 0;
    }
  }
}

// Scaled logits A of one head and a vector of queries: values (keys, ...) of step `key_step`.
HWY_INLINE void scaled_logits(const AttentionExample& in, std::int64_t head, std::int64_t first,
                              std::vector<float>& transposed, float* values, std::int64_t key_step) {
  const float scale = 1 / std::sqrt(static_cast<float>(in.head_width));
  const std::int64_t column = head * in.head_width;
  transpose_rows(in.q + first * in.row() + column, in.row(), HWY_MIN(kLanes, in.queries - first),
                 in.head_width, scale, transposed.data());
  multiply_column(Floats(), in.keys_of(first, kLanes), in.head_width, 0, {in.k + column, in.row(), 1},
                  transposed.data(), kLanes, 1, values, key_step);
}

// Adds the bias by running sums to the logits of one head and a vector of queries.
HWY_INLINE void add_sums(const AttentionExample& in, const RunningSums& sums, std::int64_t head,
                         std::int64_t first, float* values, std::int64_t key_step) {
  const Floats d;
  for (std::int64_t key = 0; key < in.keys_of(first, kLanes); ++key) {
    float* const logits = values + key * key_step;
    hn::StoreU(hn::Add(hn::LoadU(d, logits), sums.at(head, key)), d, logits);
  }
}

// The first `count` queries of a vector, from which a key is hidden.
HWY_INLINE hn::Mask<Floats> hidden_from(std::int64_t count) {
  return hn::FirstN(Floats(), static_cast<std::size_t>(count));
}

// Softmax over the keys of one head and a vector of queries, in place; `bias` is added first where there is
// one. Keys that a query does not see, up to `written`, get weight zero. A logit that is no number makes all
// weights of its query none, as in the library's.
HWY_INLINE void softmax(const AttentionExample& in, std::int64_t head, std::int64_t first, float* values,
                        std::int64_t key_step, std::int64_t written) {
  const Floats d;
  const Vector none = hn::Set(d, -std::numeric_limits<float>::infinity());
  const std::int64_t keys = in.keys_of(first, kLanes);
  const std::int64_t seen = in.keys_of(first, 1);  // Key `seen` + n is hidden from n + 1 queries.
  Vector most = none;
  Vector total = hn::Zero(d);  // Max and Exp lose what is no number.
  for (std::int64_t key = 0; key < keys; ++key) {
    Vector logit = hn::LoadU(d, values + key * key_step);
    if (in.bias.data != nullptr) logit = hn::Add(logit, hn::LoadU(d, in.bias.at(head, key, first)));
    if (key >= seen) logit = hn::IfThenElse(hidden_from(key - seen + 1), none, logit);
    if (in.bias.data != nullptr || key >= seen) hn::StoreU(logit, d, values + key * key_step);
    most = hn::Max(most, logit);
    total = hn::Add(total, hn::IfThenElseZero(hn::IsNaN(logit), logit));
  }
  for (std::int64_t key = 0; key < keys; ++key) {
    const Vector power = hn::Exp(d, hn::Sub(hn::LoadU(d, values + key * key_step), most));
    total = hn::Add(total, power);
    hn::StoreU(power, d, values + key * key_step);
  }
  const Vector inverse = hn::Div(hn::Set(d, 1.0F), total);
  for (std::int64_t key = 0; key < keys; ++key) {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + key * key_step), inverse), d, values + key * key_step);
  }
  for (std::int64_t key = keys; key < written; ++key) hn::StoreU(hn::Zero(d), d, values + key * key_step);
}

void attention_forward_tile(const AttentionExample& in, std::int64_t tile, float* tile_weights,
                            std::int64_t stride, float* out) {
  std::vector<float> transposed(static_cast<std::size_t>(in.head_width * kLanes));
  const std::int64_t head_step = in.keys * stride;
  for (std::int64_t first = tile; first < HWY_MIN(tile + kQueryTile, in.queries); first += kLanes) {
    float* const weights = tile_weights + (first - tile);
    const RunningSums sums = RunningSums::of_heads(in, first);
    for (std::int64_t head = 0; head < in.heads; ++head) {
      scaled_logits(in, head, first, transposed, weights + head * head_step, stride);
    }
    if (in.mlp != nullptr) {
      with_heads(in.mlp->heads, [&](auto heads) HWY_ATTR {
        pair_mlp_forward<decltype(heads)::value>(in, first, weights, head_step, stride,
                                                 RunningSums::of_hidden(in, first));
      });
    }
    for (std::int64_t head = 0; head < in.heads; ++head) {
      if (sums.defined()) add_sums(in, sums, head, first, weights + head * head_step, stride);
      softmax(in, head, first, weights + head * head_step, stride, in.keys_of(tile, kQueryTile));
      const std::int64_t column = head * in.head_width;
      const std::int64_t seen = in.keys_of(first, 1);
      multiply(HWY_MIN(kLanes, in.queries - first), seen, in.head_width,
               {weights + head * head_step, 1, stride}, in.v + column, in.row(), 1,
               out + first * in.row() + column, in.row(), in.keys_of(first, kLanes) - seen);
    }
  }
}

// The gradient of the logits that the softmax saw, for one head and a vector of queries: `gradient`
// (keys, ...) comes in as that of the weights, whatever it has at keys that a query does not see.
HWY_INLINE void softmax_gradient(const AttentionExample& in, std::int64_t head, std::int64_t first,
                                 const float* weights, float* gradient, std::int64_t key_step,
                                 const PairTable<float>& d_bias) {
  const Floats d;
  const std::int64_t keys = in.keys_of(first, kLanes);
  const std::int64_t seen = in.keys_of(first, 1);
  for (std::int64_t key = seen; key < keys; ++key) {
    float* const of_key = gradient + key * key_step;
    hn::StoreU(hn::IfThenZeroElse(hidden_from(key - seen + 1), hn::LoadU(d, of_key)), d, of_key);
  }
  Vector mean = hn::Zero(d);
  for (std::int64_t key = 0; key < keys; ++key) {
    mean = hn::MulAdd(hn::LoadU(d, weights + key * key_step), hn::LoadU(d, gradient + key * key_step), mean);
  }
  for (std::int64_t key = 0; key < keys; ++key) {
    const Vector value = hn::Mul(hn::LoadU(d, weights + key * key_step),
                                 hn::Sub(hn::LoadU(d, gradient + key * key_step), mean));
    hn::StoreU(value, d, gradient + key * key_step);
    if (d_bias.data != nullptr) {
      float* sum = d_bias.at(head, key, first);
      hn::StoreU(hn::Add(hn::LoadU(d, sum), value), d, sum);
    }
  }
}

void attention_example_gradients(const AttentionExample& in, const float* weights, const float* d_out,
                                 const ExampleGradients& out) {
  const std::int64_t stride = padded_queries(in.queries);
  const std::int64_t head_step = in.keys * stride;
  const float scale = 1 / std::sqrt(static_cast<float>(in.head_width));
  std::vector<float> transposed(static_cast<std::size_t>(in.head_width * kLanes));
  std::vector<float> gradient(static_cast<std::size_t>(in.heads * head_step));
  std::vector<float> logits;
  std::vector<float> scratch;
  if (in.mlp != nullptr) {
    logits.resize(static_cast<std::size_t>(in.heads * in.keys * kLanes));
    scratch.resize(static_cast<std::size_t>(2 * (in.mlp->hidden + in.mlp->heads) * kKeysAtOnce * kLanes));
  }
  if (in.sums != nullptr) std::fill_n(out.d_sums, in.sums_count(in.heads), 0.0F);
  if (in.hidden_sums != nullptr) std::fill_n(out.d_hidden_sums, in.sums_count(in.mlp->hidden), 0.0F);
  for (std::int64_t first = 0; first < in.queries; first += kLanes) {
    RunningSums sums = RunningSums::of_heads(in, first);
    for (std::int64_t head = 0; head < in.heads; ++head) {
      const std::int64_t column = head * in.head_width;
      float* const values = gradient.data() + head * head_step + first;
      transpose_rows(d_out + first * in.row() + column, in.row(), HWY_MIN(kLanes, in.queries - first),
                     in.head_width, 1, transposed.data());
      multiply_column(Floats(), in.keys_of(first, kLanes), in.head_width, 0, {in.v + column, in.row(), 1},
                      transposed.data(), kLanes, 1, values, stride);
      softmax_gradient(in, head, first, weights + head * head_step + first, values, stride, out.d_bias);
      if (sums.defined()) {
        const auto gradient_of = [&](std::int64_t key)
                                     HWY_ATTR { return hn::LoadU(Floats(), values + key * stride); };
        sums.add(head, 0, in.keys_of(first, kLanes), gradient_of, out.d_sums);
      }
      if (in.mlp != nullptr) {
        scaled_logits(in, head, first, transposed, logits.data() + head * in.keys * kLanes, kLanes);
      }
    }
    sums.add_queries(out.d_sums);
    if (in.mlp != nullptr) {
      with_heads(in.mlp->heads, [&](auto heads) HWY_ATTR {
        pair_mlp_backward<decltype(heads)::value>(in, first, logits.data(), in.keys * kLanes, kLanes,
                                                  gradient.data() + first, head_step, stride, out,
                                                  scratch.data());
      });
    }
  }
  for (std::int64_t head = 0; head < in.heads; ++head) {
    const std::int64_t column = head * in.head_width;
    const std::int64_t step = in.causal ? kQueryTile : in.queries;
    for (std::int64_t first = 0, seen = 0; first < in.queries; first += step) {
      // Keys from `seen` on are seen by none of the queries before `first`.
      const std::int64_t keys = in.keys_of(first, step);
      const std::int64_t of_keys = seen * in.row() + column;
      const std::int64_t of_queries = first * in.row() + column;
      const std::int64_t pairs = head * head_step + seen * stride + first;
      multiply(keys - seen, in.queries - first, in.head_width, {weights + pairs, stride, 1},
               d_out + of_queries, in.row(), 1, out.d_v + of_keys, in.row());
      multiply(keys - seen, in.queries - first, in.head_width, {gradient.data() + pairs, stride, 1},
               in.q + of_queries, in.row(), scale, out.d_k + of_keys, in.row());
      const std::int64_t of_first = in.keys_of(first, 1);
      multiply(HWY_MIN(step, in.queries - first), of_first, in.head_width,
               {gradient.data() + head * head_step + first, 1, stride}, in.k + column, in.row(), scale,
               out.d_q + of_queries, in.row(), keys - of_first);
      seen = keys;
    }
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(attention_forward_tile);
HWY_EXPORT(attention_example_gradients);

void attention_forward_tile(const AttentionExample& in, std::int64_t first, float* weights,
                            std::int64_t stride, float* out) {
  HWY_DYNAMIC_DISPATCH(attention_forward_tile)(in, first, weights, stride, out);
}

void attention_example_gradients(const AttentionExample& in, const float* weights, const float* d_out,
                                 const ExampleGradients& out) {
  HWY_DYNAMIC_DISPATCH(attention_example_gradients)(in, weights, d_out, out);
}

}  // namespace che
#endif
