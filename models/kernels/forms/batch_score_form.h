#pragma once

#include <cstdint>

namespace che {

// What score_batch() of models/kernels/batch_score.h reads; everything is contiguous.
struct BatchScoreInputs {
  std::int64_t replicas;
  std::int64_t rows;  // Output symbols of the batch.
  std::int64_t classes;
  const float* logits;          // (replicas, rows, classes)
  const std::int64_t* targets;  // (rows), 0 <= target < classes
  const std::uint8_t* mask;     // (rows), 0 and 1; the loss ignores it.
};

// CPUs have none: there the composition is as fast, and stored results have its bits.
struct BatchScoreForm {
  // Whether the functions below take so many replicas; null where a device has none.
  bool (*serves)(std::int64_t replicas) = nullptr;

  // Writes, (replicas) each, the mean cross entropy of the rows in nats, and of how many rows in the mask the
  // largest logit, the first of several, is the target's. NaN counts as larger than any number.
  void (*forward)(const BatchScoreInputs& in, float* losses, std::int64_t* correct) = nullptr;

  // Writes d_logits from the gradients of the losses, (replicas).
  void (*backward)(const BatchScoreInputs& in, const float* d_losses, float* d_logits) = nullptr;
};

}  // namespace che
