#pragma once

#include <cstdint>

namespace che {

// What is the same for all values of an update by Adam (arXiv 1412.6980).
struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;     // Added outside the square root.
  double clip_norm = 1;      // Euclidean, of each replica's gradient.
  double rate_fraction = 1;  // Of the learning rates.
  std::int64_t updates = 1;  // This one included.
};

// Everything is contiguous: (replicas, size), but rates and norms (replicas).
struct AdamOperands {
  std::int64_t replicas;
  std::int64_t size;
  const float* learning_rates;
  const float* norms;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  float* values;
};

struct AdamForm {
  // Writes the norm of every replica's gradients, (replicas, size), into norms, (replicas).
  void (*norms)(std::int64_t replicas, std::int64_t size, const float* gradients, float* norms);

  // A norm that is no number makes the update none either.
  void (*update)(const AdamOperands& operands, const AdamSettings& settings);
};

}  // namespace che
