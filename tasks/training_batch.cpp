#include "tasks/training_batch.h"

namespace che {

std::int64_t training_length(const Task& task, const TrainingBatches& batches, std::int64_t step) {
  RandomStream random(keyed_seed(batches.data_seed, task.stream_key()), Purpose::kLengths,
                      static_cast<std::uint64_t>(step));
  const std::int64_t choices = batches.last_length - batches.first_length + 1;
  return batches.first_length + random.below(static_cast<std::uint64_t>(choices));
}

void training_batch(const Task& task, const TrainingBatches& batches, std::int64_t step, Batch& batch) {
  const BatchKey key{batches.data_seed, Purpose::kData, static_cast<std::uint64_t>(step), 0};
  sample_batch(task, key, training_length(task, batches, step), batches.batch_size, batch);
}

}  // namespace che
