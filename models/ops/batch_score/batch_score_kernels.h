#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The inputs of score_batch() of batch_score.h; everything is contiguous.
struct BatchScoreInputs {
  std::int64_t replicas;
  std::int64_t rows;  // Output symbols of the batch.
  std::int64_t classes;
  const float* logits;          // (replicas, rows, classes)
  const std::int64_t* targets;  // (rows), 0 <= target < classes
  const std::uint8_t* mask;     // (rows), 0 and 1; the loss ignores it.
};

// CPUs have none: there the composition is as fast, and stored results have its bits.
struct BatchScoreKernels {
  // Whether the functions below take so many replicas; null where a device has none.
  bool (*serves)(std::int64_t replicas) = nullptr;

  // Writes, (replicas) each, the mean cross entropy of the rows in nats, and the number of rows in the mask
  // whose largest logit, the first of several, is the target's. NaN counts as larger than any number.
  int (*forward)(const KernelCall& call, const BatchScoreInputs& in, float* losses,
                 std::int64_t* correct) = nullptr;

  // Writes d_logits from the gradients of the losses, (replicas).
  int (*backward)(const KernelCall& call, const BatchScoreInputs& in, const float* d_losses,
                  float* d_logits) = nullptr;
};

namespace gpu {
BatchScoreKernels batch_score_kernels();
}

}  // namespace che
