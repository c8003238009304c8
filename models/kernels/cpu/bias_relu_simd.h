#pragma once

#include <cstdint>

namespace che {

// values (rows, width) become max(values + bias, 0); bias (width).
void add_bias_relu(float* values, const float* bias, std::int64_t rows, std::int64_t width);

// gradient (rows, width) becomes 0 where activation (rows, width) is; its sum over the rows is added
// to d_bias (width).
void relu_gradient(float* gradient, const float* activation, float* d_bias, std::int64_t rows,
                   std::int64_t width);

}  // namespace che
