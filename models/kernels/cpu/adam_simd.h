#pragma once

#include <cstdint>

namespace che {

// Sum of the squares of `count` values: of 4096 at a time in single precision, of those in double.
double sum_of_squares(const float* values, std::int64_t count);

// Update number n of `count` values by Adam (arXiv 1412.6980), 28 bytes of memory traffic a value:
//
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   value -= rate / (1 - beta1^n) m / (sqrt(v / (1 - beta2^n)) + epsilon).
struct AdamFactors {
  float beta1;
  float beta2;
  float rest1;           // 1 - beta1, rounded once.
  float rest2;           // 1 - beta2
  float gradient_scale;  // The clipping's.
  float rate;            // Learning rate / (1 - beta1^n)
  float second_scale;    // 1 / (1 - beta2^n)
  float epsilon;
};
void adam_update(const AdamFactors& factors, const float* gradients, float* first_moments,
                 float* second_moments, float* values, std::int64_t count);

}  // namespace che
