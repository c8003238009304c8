#pragma once

#include <cstdint>

#include "models/kernels/forms/dropout_bits.h"

namespace che {

// One example's part of residual_norm(). Rows are tokens.
struct ResidualNormRows {
  std::int64_t rows;
  std::int64_t width;
  const float* x;       // (rows, width)
  const float* y;       // (rows, width)
  const float* y_bias;  // (width), or null
  const float* scale;   // (width)
  const float* offset;  // (width)
  DropoutBits dropout;
  std::int64_t first_value;  // Of y, within its example.
  float epsilon;             // Added to the variance.
};

// Writes out (rows, width) and, for the backward pass, moments (rows, 2): mean and 1 / deviation.
void residual_norm_forward(const ResidualNormRows& in, float* out, float* moments);

// Writes the gradients of x and y, (rows, width) each, and adds to those of y_bias, scale and offset,
// (width) each. Of y_bias where there is none too: d_y_bias is never null.
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
