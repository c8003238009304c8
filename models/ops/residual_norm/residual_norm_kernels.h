#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"
#include "models/ops/dropout/dropout_kernels.h"

namespace che {

// The inputs of residual_norm() of residual_norm.h. Rows are tokens.
struct ResidualNormInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t width;
  ExampleView<const float> x;  // (rows, width) per example
  ExampleView<const float> y;  // likewise
  const float* y_bias;         // (replicas, width), or null
  const float* scale;          // (replicas, width)
  const float* offset;         // (replicas, width)
  DropoutDraws draws;
  float epsilon;  // Added to the variance.
  // Where the sum under the norm, like x, is a result, too; data is null where it is none.
  ExampleView<float> sum = {};          // Written by forward().
  ExampleView<const float> d_sum = {};  // Its gradient, read by backward().
};

// Where gradients are written. The first two are like x and contiguous, the others (replicas, width).
struct ResidualNormGradients {
  ExampleView<float> d_x;
  ExampleView<float> d_y;
  float* d_y_bias;  // Never null; without y_bias, the sum of d_y's gradient all the same.
  float* d_scale;
  float* d_offset;
};

struct ResidualNormKernels {
  // Whether the functions below take so many replicas and features, with dropout or without.
  bool (*serves)(std::int64_t replicas, std::int64_t width, bool has_dropout);

  // Writes out, like x, and for the backward pass moments (replicas, batch, rows, 2): mean and 1 / deviation.
  int (*forward)(const KernelCall& call, const ResidualNormInputs& in, const ExampleView<float>& out,
                 const ExampleView<float>& moments);
  int (*backward)(const KernelCall& call, const ResidualNormInputs& in,
                  const ExampleView<const float>& moments, const ExampleView<const float>& d_out,
                  const ResidualNormGradients& out);
};

namespace gpu {
ResidualNormKernels residual_norm_kernels();
}
namespace cpu {
ResidualNormKernels residual_norm_kernels();
}

// The part of one example.
struct ResidualNormRows {
  std::int64_t rows;
  std::int64_t width;
  const float* x;       // (rows, width)
  const float* y;       // (rows, width)
  const float* y_bias;  // (width), or null
  const float* scale;   // (width)
  const float* offset;  // (width)
  DropoutBits dropout;
  std::int64_t first_value;  // The place of y's first value in its example.
  float epsilon;             // Added to the variance.
  float* sum;                // (rows, width), or null
  const float* d_sum;        // (rows, width), or null
};

// Writes out (rows, width) and, for the backward pass, moments (rows, 2): mean and 1 / deviation.
void residual_norm_forward(const ResidualNormRows& in, float* out, float* moments);

// Writes the gradients of x and y, (rows, width) each, and adds to those of y_bias, scale and offset,
// (width) each. d_y_bias is never null, even without y_bias.
struct ResidualNormRowGradients {
  float* d_x;
  float* d_y;
  float* d_y_bias;
  float* d_scale;
  float* d_offset;
};
void residual_norm_row_gradients(const ResidualNormRows& in, const float* moments, const float* d_out,
                                 const ResidualNormRowGradients& out);

}  // namespace che
