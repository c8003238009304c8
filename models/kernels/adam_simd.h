#pragma once

#include <cstdint>

namespace che {

// Sum of the squares of `count` values, in double.
double sum_of_squares(const float* values, std::int64_t count);

// One update of `count` values by Adam: factors are what the update's number makes of its constants.
struct AdamFactors {
  float beta1;
  float beta2;
  float gradient_scale;  // The clipping's.
  float rate;            // Learning rate / (1 - beta1^n)
  float second_scale;    // 1 / (1 - beta2^n)
  float epsilon;
};
void adam_update(const AdamFactors& factors, const float* gradients, float* first_moments,
                 float* second_moments, float* values, std::int64_t count);

}  // namespace che
