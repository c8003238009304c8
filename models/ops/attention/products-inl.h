// Products of the small matrices of one head. Included once for every instruction set.
#if defined(CHE_MODELS_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CHE_MODELS_KERNELS_PRODUCTS_INL_H_
#undef CHE_MODELS_KERNELS_PRODUCTS_INL_H_
#else
#define CHE_MODELS_KERNELS_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A matrix whose element (i, j) is at data[i * row_step + j * column_step].
struct Factor {
  const float* data;
  std::int64_t row_step;
  std::int64_t column_step;
};

// N rows of c = alpha a b, one vector of columns: a (N, inner), b (inner, columns) and c with
// neighbouring columns side by side.
template <int N, class D>
HWY_INLINE void multiply_rows(D d, std::int64_t inner, const Factor& a, const float* b, std::int64_t b_step,
                              float alpha, float* c, std::int64_t c_step) {
  hn::Vec<D> sum[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) sum[n] = hn::Zero(d);
  const float* column = a.data;
  for (std::int64_t k = 0; k < inner; ++k, column += a.column_step, b += b_step) {
    const auto right = hn::LoadU(d, b);
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) sum[n] = hn::MulAdd(hn::Set(d, column[n * a.row_step]), right, sum[n]);
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) hn::StoreU(hn::Mul(sum[n], hn::Set(d, alpha)), d, c + n * c_step);
}

// All `rows` of c, one vector of columns. Where they are no multiple of the block, the last block
// begins earlier and writes some rows a second time.
template <class D>
HWY_INLINE void multiply_column(D d, std::int64_t rows, std::int64_t inner, const Factor& a, const float* b,
                                std::int64_t b_step, float alpha, float* c, std::int64_t c_step) {
  constexpr std::int64_t kBlock = 8;
  const auto from = [&](std::int64_t row) {
    return Factor{a.data + row * a.row_step, a.row_step, a.column_step};
  };
  if (rows < kBlock) {
    for (std::int64_t row = 0; row < rows; ++row) {
      multiply_rows<1>(d, inner, from(row), b, b_step, alpha, c + row * c_step, c_step);
    }
    return;
  }
  for (std::int64_t row = 0; row < rows; row += kBlock) {
    const std::int64_t first = HWY_MIN(row, rows - kBlock);
    multiply_rows<kBlock>(d, inner, from(first), b, b_step, alpha, c + first * c_step, c_step);
  }
}

// c (rows, columns) = alpha a (rows, inner) b (inner, columns); b's and c's columns lie side by side.
inline void multiply(std::int64_t rows, std::int64_t inner, std::int64_t columns, const Factor& a,
                     const float* b, std::int64_t b_step, float alpha, float* c, std::int64_t c_step) {
  const auto pass = [&](auto d, std::int64_t first) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; first + lanes <= columns; first += lanes) {
      multiply_column(d, rows, inner, a, b + first, b_step, alpha, c + first, c_step);
    }
    return first;
  };
  std::int64_t done = pass(Floats(), 0);
  done = pass(hn::CappedTag<float, 8>(), done);
  done = pass(hn::CappedTag<float, 4>(), done);
  pass(hn::CappedTag<float, 1>(), done);
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
