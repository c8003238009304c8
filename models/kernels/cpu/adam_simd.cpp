#include "models/kernels/cpu/adam_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/cpu/adam_simd.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "models/kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {

double sum_of_squares(const float* values, std::int64_t count) {
  constexpr std::int64_t kChunk = 4096;  // Summed in single precision.
  const Floats d;
  double total = 0;
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t end = HWY_MIN(count, first + kChunk);
    Vector sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    std::int64_t i = first;
    for (; i + 4 * kLanes <= end; i += 4 * kLanes) {
#pragma GCC unroll 4
      for (int n = 0; n < 4; ++n) {
        const Vector x = hn::LoadU(d, values + i + n * kLanes);
        sum[n] = hn::MulAdd(x, x, sum[n]);
      }
    }
    for (; i < end; i += kLanes) {
      const Vector x = load_part(values + i, end - i);
      sum[0] = hn::MulAdd(x, x, sum[0]);
    }
    total += static_cast<double>(sum_of_lanes(hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
  }
  return total;
}

void adam_update(const AdamFactors& factors, const float* gradients, float* first_moments,
                 float* second_moments, float* values, std::int64_t count) {
  const Floats d;
  const Vector beta1 = hn::Set(d, factors.beta1);
  const Vector beta2 = hn::Set(d, factors.beta2);
  const Vector rest1 = hn::Set(d, factors.rest1);
  const Vector rest2 = hn::Set(d, factors.rest2);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t n = count - i;
    const Vector gradient = hn::Mul(load_part(gradients + i, n), hn::Set(d, factors.gradient_scale));
    const Vector first = hn::MulAdd(load_part(first_moments + i, n), beta1, hn::Mul(gradient, rest1));
    const Vector second =
        hn::MulAdd(load_part(second_moments + i, n), beta2, hn::Mul(hn::Mul(gradient, gradient), rest2));
    const Vector deviation =
        hn::Add(hn::Sqrt(hn::Mul(second, hn::Set(d, factors.second_scale))), hn::Set(d, factors.epsilon));
    const Vector step = hn::Div(hn::Mul(first, hn::Set(d, factors.rate)), deviation);
    store_part(first, first_moments + i, n);
    store_part(second, second_moments + i, n);
    store_part(hn::Sub(load_part(values + i, n), step), values + i, n);
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(sum_of_squares);
HWY_EXPORT(adam_update);

double sum_of_squares(const float* values, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(values, count);
}

void adam_update(const AdamFactors& factors, const float* gradients, float* first_moments,
                 float* second_moments, float* values, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(adam_update)(factors, gradients, first_moments, second_moments, values, count);
}

}  // namespace che
#endif
