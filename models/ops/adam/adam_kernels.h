#pragma once

#include <cmath>
#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The settings of an update by Adam (arXiv 1412.6980) that all values share.
struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;     // Added outside the square root.
  double clip_norm = 1;      // The largest Euclidean norm of a replica's gradient.
  double rate_fraction = 1;  // Multiplies the learning rates.
  std::int64_t updates = 1;  // This one included.
};

// Everything is contiguous, (replicas, size), but for the values of replicas, which may have gaps between
// them, and for rates and norms, (replicas).
struct AdamOperands {
  std::int64_t replicas;
  std::int64_t size;
  std::int64_t value_stride;  // From one replica's values to the next's.
  const float* learning_rates;
  const float* norms;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  float* values;
};

struct AdamKernels {
  // Writes the norm of every replica's gradients, (replicas, size), into norms, (replicas).
  int (*norms)(const KernelCall& call, std::int64_t replicas, std::int64_t size, const float* gradients,
               float* norms);

  // A norm that is no number makes the update none either.
  int (*update)(const KernelCall& call, const AdamOperands& operands, const AdamSettings& settings);
};

// The values that dropout number `step` and an update by `settings` take from their step.
inline GpuStep gpu_step(std::uint32_t step, const AdamSettings& settings) {
  const auto updates = static_cast<double>(settings.updates);
  return {.dropout = step,
          .second_scale = static_cast<float>(1 / (1 - std::pow(settings.beta2, updates))),
          .rate_scale = settings.rate_fraction / (1 - std::pow(settings.beta1, updates))};
}

namespace gpu {
AdamKernels adam_kernels();
}
namespace cpu {
AdamKernels adam_kernels();
}

// Sums the squares of `count` values: 4096 at a time in single precision, their sums in double.
double sum_of_squares(const float* values, std::int64_t count);

// Update number n of `count` values, 28 bytes of memory traffic a value:
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
