#include <algorithm>
#include <cmath>
#include <vector>

#include "models/kernels/cpu/adam_simd.h"
#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cpu/partition.h"

namespace che::cpu {
namespace {

// A replica's values that one part takes.
constexpr std::int64_t kPartValues = 1 << 16;

Partition parts_of(std::int64_t values) {
  const std::int64_t count = (values + kPartValues - 1) / kPartValues;
  return {count, count};
}

void norms(std::int64_t replicas, std::int64_t size, const float* gradients, float* norms) {
  const Partition parts = parts_of(size);
  for (std::int64_t r = 0; r < replicas; ++r) {
    const float* const values = gradients + r * size;
    std::vector<double> sums(static_cast<std::size_t>(parts.count()));
    parts.for_each([&](std::int64_t, std::int64_t part) {
      const std::int64_t first = part * kPartValues;
      sums[static_cast<std::size_t>(part)] =
          sum_of_squares(values + first, std::min(kPartValues, size - first));
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    norms[r] = static_cast<float>(std::sqrt(total));
  }
}

void update(const AdamOperands& operands, const AdamSettings& settings) {
  const auto updates = static_cast<double>(settings.updates);
  for (std::int64_t r = 0; r < operands.replicas; ++r) {
    const double norm = operands.norms[r];
    const double rate = operands.learning_rates[r] * settings.rate_fraction;
    // A norm that is no number is smaller than none.
    const double clipped = norm < settings.clip_norm ? settings.clip_norm : norm;
    const AdamFactors factors{.beta1 = static_cast<float>(settings.beta1),
                              .beta2 = static_cast<float>(settings.beta2),
                              .rest1 = static_cast<float>(1 - settings.beta1),
                              .rest2 = static_cast<float>(1 - settings.beta2),
                              .gradient_scale = static_cast<float>(settings.clip_norm / clipped),
                              .rate = static_cast<float>(rate / (1 - std::pow(settings.beta1, updates))),
                              .second_scale = static_cast<float>(1 / (1 - std::pow(settings.beta2, updates))),
                              .epsilon = static_cast<float>(settings.epsilon)};
    parts_of(operands.size).for_each([&](std::int64_t, std::int64_t part) {
      const std::int64_t first = r * operands.size + part * kPartValues;
      adam_update(factors, operands.gradients + first, operands.first_moment + first,
                  operands.second_moment + first, operands.values + first,
                  std::min(kPartValues, operands.size - part * kPartValues));
    });
  }
}

}  // namespace

AdamForm adam_form() { return {.norms = norms, .update = update}; }

}  // namespace che::cpu
