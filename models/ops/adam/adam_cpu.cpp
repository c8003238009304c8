#include <algorithm>
#include <cmath>
#include <vector>

#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/partition.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/adam/adam_cpu.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "models/ops/device/simd-inl.h"

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

namespace cpu {
namespace {

// A replica's values that one part takes.
constexpr std::int64_t kPartValues = 1 << 16;

Partition parts_of(std::int64_t values) {
  const std::int64_t count = (values + kPartValues - 1) / kPartValues;
  return {count, count};
}

int norms(const KernelCall& /*call*/, std::int64_t replicas, std::int64_t size, const float* gradients,
          float* norms) {
  const Partition parts = parts_of(size);
  for (std::int64_t r = 0; r < replicas; ++r) {
    const float* const values = gradients + r * size;
    std::vector<double> sums(static_cast<std::size_t>(parts.count()));
    parts.for_each([&](std::int64_t, std::int64_t part) {
      const std::int64_t first = part * kPartValues;
      sums[static_cast<std::size_t>(part)] =
          sum_of_squares(values + first, std::min(kPartValues, size - first));
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    norms[r] = static_cast<float>(std::sqrt(total));
  }
  return kKernelDone;
}

int update(const KernelCall& /*call*/, const AdamOperands& operands, const AdamSettings& settings) {
  const auto updates = static_cast<double>(settings.updates);
  for (std::int64_t r = 0; r < operands.replicas; ++r) {
    const double norm = operands.norms[r];
    const double rate = operands.learning_rates[r] * settings.rate_fraction;
    // A norm that is no number is smaller than none.
    const double clipped = norm < settings.clip_norm ? settings.clip_norm : norm;
    const AdamFactors factors{.beta1 = static_cast<float>(settings.beta1),
                              .beta2 = static_cast<float>(settings.beta2),
                              .rest1 = static_cast<float>(1 - settings.beta1),
                              .rest2 = static_cast<float>(1 - settings.beta2),
                              .gradient_scale = static_cast<float>(settings.clip_norm / clipped),
                              .rate = static_cast<float>(rate / (1 - std::pow(settings.beta1, updates))),
                              .second_scale = static_cast<float>(1 / (1 - std::pow(settings.beta2, updates))),
                              .epsilon = static_cast<float>(settings.epsilon)};
    parts_of(operands.size).for_each([&](std::int64_t, std::int64_t part) {
      const std::int64_t first = r * operands.size + part * kPartValues;
      che::adam_update(factors, operands.gradients + first, operands.first_moment + first,
                       operands.second_moment + first,
                       operands.values + r * operands.value_stride + part * kPartValues,
                       std::min(kPartValues, operands.size - part * kPartValues));
    });
  }
  return kKernelDone;
}

}  // namespace

AdamKernels adam_kernels() { return {.norms = norms, .update = update}; }

}  // namespace cpu
}  // namespace che
#endif
