#include <algorithm>

#include "models/ops/device/partition.h"
#include "models/ops/feed_forward/bias_relu_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/feed_forward/bias_relu_cpu.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "models/ops/device/simd-inl.h"

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

// Phi(x) and its density. erfc(z), z >= 0, is a polynomial of 1 / (1 + p z) times exp(-z^2) up to 1.5e-7
// (Abramowitz and Stegun, 7.1.26), about the rounding of 1 + erf(z) in single precision.
struct Normal {
  Vector below, density;
};
HWY_INLINE Normal normal_of(Vector x) {
  const Floats d;
  const Vector z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678118F));
  const Vector t = hn::Div(hn::Set(d, 1.0F), hn::MulAdd(hn::Set(d, 0.3275911F), z, hn::Set(d, 1.0F)));
  Vector sum = hn::Set(d, 1.061405429F);
  sum = hn::MulAdd(sum, t, hn::Set(d, -1.453152027F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 1.421413741F));
  sum = hn::MulAdd(sum, t, hn::Set(d, -0.284496736F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 0.254829592F));
  const Vector power = hn::Exp(d, hn::Neg(hn::Mul(z, z)));
  const Vector tail = hn::Mul(hn::Mul(hn::Mul(sum, t), power), hn::Set(d, 0.5F));
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail)),
          hn::Mul(power, hn::Set(d, 0.39894228040F))};
}

void bias_gelu(const float* values, const float* bias, float* active, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, values += width, active += width) {
    for (std::int64_t f = 0; f < width; f += kLanes) {
      const std::int64_t n = width - f;
      const Vector x = hn::Add(load_part(values + f, n), load_part(bias + f, n));
      store_part(hn::Mul(x, normal_of(x).below), active + f, n);
    }
  }
}

void gelu_gradient(float* gradient, const float* values, const float* bias, float* active, float* d_bias,
                   std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, gradient += width, values += width, active += width) {
    for (std::int64_t f = 0; f < width; f += kLanes) {
      const std::int64_t n = width - f;
      const Vector x = hn::Add(load_part(values + f, n), load_part(bias + f, n));
      const Normal normal = normal_of(x);
      store_part(hn::Mul(x, normal.below), active + f, n);
      const Vector slope = hn::MulAdd(x, normal.density, normal.below);
      const Vector through = first_lanes(hn::Mul(load_part(gradient + f, n), slope), n);
      store_part(through, gradient + f, n);
      add_part(through, d_bias + f, n);
    }
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(add_bias_relu);
HWY_EXPORT(relu_gradient);
HWY_EXPORT(bias_gelu);
HWY_EXPORT(gelu_gradient);

void add_bias_relu(float* values, const float* bias, std::int64_t rows, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(add_bias_relu)(values, bias, rows, width);
}

void relu_gradient(float* gradient, const float* activation, float* d_bias, std::int64_t rows,
                   std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(relu_gradient)(gradient, activation, d_bias, rows, width);
}

void bias_gelu(const float* values, const float* bias, float* active, std::int64_t rows, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(bias_gelu)(values, bias, active, rows, width);
}

void gelu_gradient(float* gradient, const float* values, const float* bias, float* active, float* d_bias,
                   std::int64_t rows, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(gelu_gradient)(gradient, values, bias, active, d_bias, rows, width);
}

namespace cpu {
namespace {

constexpr std::int64_t kBlockRows = 1024;
constexpr std::int64_t kPartsOfBlock = 8;

// Calls f(replica, part, first, count) for parts of a block's rows.
template <class F>
void for_each_rows(const HiddenRows& block, const F& f) {
  constexpr std::int64_t kRows = kBlockRows / kPartsOfBlock;
  const std::int64_t parts = (block.rows + kRows - 1) / kRows;
  Partition{block.replicas * parts, block.replicas * parts}.for_each([&](std::int64_t, std::int64_t item) {
    const std::int64_t first = item % parts * kRows;
    f(item / parts, item % parts, first, std::min(kRows, block.rows - first));
  });
}

int forward(const KernelCall& /*call*/, const HiddenRows& values, const float* bias) {
  for_each_rows(values, [&](std::int64_t replica, std::int64_t, std::int64_t first, std::int64_t count) {
    add_bias_relu(values.row(replica, first), bias + replica * values.width, count, values.width);
  });
  return kKernelDone;
}

int backward(const KernelCall& /*call*/, const HiddenRows& gradient, const HiddenRows& activation,
             float* d_bias) {
  const std::int64_t width = gradient.width;
  for_each_rows(gradient,
                [&](std::int64_t replica, std::int64_t part, std::int64_t first, std::int64_t count) {
                  relu_gradient(gradient.row(replica, first), activation.row(replica, first),
                                d_bias + (replica * kPartsOfBlock + part) * width, count, width);
                });
  return kKernelDone;
}

int gelu_forward(const KernelCall& /*call*/, const HiddenRows& values, const float* bias,
                 const HiddenRows& active) {
  for_each_rows(values, [&](std::int64_t replica, std::int64_t, std::int64_t first, std::int64_t count) {
    bias_gelu(values.row(replica, first), bias + replica * values.width, active.row(replica, first), count,
              values.width);
  });
  return kKernelDone;
}

int gelu_backward(const KernelCall& /*call*/, const HiddenRows& gradient, const HiddenRows& values,
                  const float* bias, const HiddenRows& active, float* d_bias) {
  const std::int64_t width = gradient.width;
  for_each_rows(gradient,
                [&](std::int64_t replica, std::int64_t part, std::int64_t first, std::int64_t count) {
                  gelu_gradient(gradient.row(replica, first), values.row(replica, first),
                                bias + replica * width, active.row(replica, first),
                                d_bias + (replica * kPartsOfBlock + part) * width, count, width);
                });
  return kKernelDone;
}

}  // namespace

BiasGeluKernels bias_gelu_kernels() { return {.forward = gelu_forward, .backward = gelu_backward}; }

BiasReluKernels bias_relu_kernels() {
  return {.block_rows = kBlockRows, .partial_sums = kPartsOfBlock, .forward = forward, .backward = backward};
}

}  // namespace cpu
}  // namespace che
#endif
