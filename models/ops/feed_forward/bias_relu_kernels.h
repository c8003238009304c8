// The kernels of feed_forward() between its two products: bias and activation, which is ReLU or GELU.
#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The hidden layer of feed_forward() between its two products, which are a library's: (replicas, rows,
// width), the rows of a replica without gaps.
struct HiddenRows {
  std::int64_t replicas;
  std::int64_t rows;
  std::int64_t width;
  float* data;
  std::int64_t replica_stride;

  float* row(std::int64_t replica, std::int64_t first) const {
    return data + replica * replica_stride + first * width;
  }
};

struct BiasReluKernels {
  // So many rows pass at once, so that later work on them finds them in a cache.
  std::int64_t block_rows;

  // Sums over rows are kept as so many sums, which the operation adds up in order at the end.
  std::int64_t partial_sums;

  // values become max(values + bias, 0); bias (replicas, width).
  int (*forward)(const KernelCall& call, const HiddenRows& values, const float* bias);

  // gradient becomes 0 where activation is; its sum over the rows is added to d_bias, (replicas,
  // partial_sums, width).
  int (*backward)(const KernelCall& call, const HiddenRows& gradient, const HiddenRows& activation,
                  float* d_bias);
};

// These serve the layer with GELU, x Phi(x) with the normal distribution function Phi (arXiv 1606.08415).
// Blocks and partial sums are those of BiasReluKernels. Null where a device has none.
struct BiasGeluKernels {
  // active becomes gelu(values + bias); both may be the same memory. bias (replicas, width).
  int (*forward)(const KernelCall& call, const HiddenRows& values, const float* bias,
                 const HiddenRows& active) = nullptr;

  // Computes active once more. gradient, that of active, becomes that of values; its sum over the rows is
  // added to d_bias, (replicas, partial_sums, width).
  int (*backward)(const KernelCall& call, const HiddenRows& gradient, const HiddenRows& values,
                  const float* bias, const HiddenRows& active, float* d_bias) = nullptr;
};

namespace gpu {
BiasReluKernels bias_relu_kernels();
}
namespace cpu {
BiasReluKernels bias_relu_kernels();
BiasGeluKernels bias_gelu_kernels();
}  // namespace cpu

// The kernels' work on rows of one replica, (rows, width) each; bias and d_bias (width).
void add_bias_relu(float* values, const float* bias, std::int64_t rows, std::int64_t width);
void relu_gradient(float* gradient, const float* activation, float* d_bias, std::int64_t rows,
                   std::int64_t width);
void bias_gelu(const float* values, const float* bias, float* active, std::int64_t rows, std::int64_t width);
void gelu_gradient(float* gradient, const float* values, const float* bias, float* active, float* d_bias,
                   std::int64_t rows, std::int64_t width);

}  // namespace che
