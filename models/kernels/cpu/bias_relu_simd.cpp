#include "models/kernels/cpu/bias_relu_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/cpu/bias_relu_simd.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "models/kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {

void add_bias_relu(float* values, const float* bias, std::int64_t rows, std::int64_t width) {
  const Floats d;
  for (std::int64_t row = 0; row < rows; ++row, values += width) {
    for (std::int64_t f = 0; f < width; f += kLanes) {
      const std::int64_t n = width - f;
      const Vector sum = hn::Add(load_part(values + f, n), load_part(bias + f, n));
      // Not Max, which loses what is no number.
      store_part(hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum), values + f, n);
    }
  }
}

void relu_gradient(float* gradient, const float* activation, float* d_bias, std::int64_t rows,
                   std::int64_t width) {
  const Floats d;
  for (std::int64_t row = 0; row < rows; ++row, gradient += width, activation += width) {
    for (std::int64_t f = 0; f < width; f += kLanes) {
      const std::int64_t n = width - f;
      const auto idle = hn::Le(load_part(activation + f, n), hn::Zero(d));
      const Vector masked = hn::IfThenZeroElse(idle, load_part(gradient + f, n));
      store_part(masked, gradient + f, n);
      add_part(masked, d_bias + f, n);
    }
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(add_bias_relu);
HWY_EXPORT(relu_gradient);

void add_bias_relu(float* values, const float* bias, std::int64_t rows, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(add_bias_relu)(values, bias, rows, width);
}

void relu_gradient(float* gradient, const float* activation, float* d_bias, std::int64_t rows,
                   std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(relu_gradient)(gradient, activation, d_bias, rows, width);
}

}  // namespace che
#endif
