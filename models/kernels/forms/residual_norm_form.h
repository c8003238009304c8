#pragma once

#include <cstdint>

#include "models/kernels/forms/dropout.h"
#include "models/kernels/forms/views.h"

namespace che {

// What residual_norm() of models/kernels/residual_norm.h reads. Rows are tokens.
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
  DropoutSite site;
  float epsilon;  // Added to the variance.
};

// Where gradients are written. The first two are like x and contiguous, the others (replicas, width).
struct ResidualNormGradients {
  ExampleView<float> d_x;
  ExampleView<float> d_y;
  float* d_y_bias;  // Never null; without y_bias, the sum of d_y's gradient all the same.
  float* d_scale;
  float* d_offset;
};

struct ResidualNormForm {
  // Whether the functions below take so many replicas and features, with dropout or without.
  bool (*serves)(std::int64_t replicas, std::int64_t width, bool has_dropout);

  // Writes out, like x, and for the backward pass moments (replicas, batch, rows, 2): mean and 1 / deviation.
  void (*forward)(const ResidualNormInputs& in, const ExampleView<float>& out,
                  const ExampleView<float>& moments);
  void (*backward)(const ResidualNormInputs& in, const ExampleView<const float>& moments,
                   const ExampleView<const float>& d_out, const ResidualNormGradients& out);
};

}  // namespace che
