#pragma once

#include <cstdint>

#include "tasks/task.h"

namespace che {

// What determines the training batches of a run.
struct TrainingBatches {
  std::uint64_t data_seed = 0;
  std::int64_t batch_size = 128;
  std::int64_t first_length = 1;
  std::int64_t last_length = 40;
};

// The length of every sample of a step's batch, uniform over the training lengths; depends on the task's
// stream key, the data seed and the step (from 0) only.
std::int64_t training_length(const Task& task, const TrainingBatches& batches, std::int64_t step);

// Draws the batch of a step into `batch`, whose memory is reused.
void training_batch(const Task& task, const TrainingBatches& batches, std::int64_t step, Batch& batch);

}  // namespace che
