#include "experiments/training/batch_stream.h"

#include <utility>

namespace che {

TrainingBatches training_batches(const RunConfig& config) {
  return {.data_seed = static_cast<std::uint64_t>(config.data_seed),
          .batch_size = config.training.batch_size,
          .first_length = config.training.first_length,
          .last_length = config.training.last_length};
}

BatchStream::BatchStream(const RunConfig& config, std::int64_t first_step)
    : task_(create_task(config.task)), batches_(training_batches(config)), step_(first_step) {
  upcoming_ = std::async(std::launch::async, &BatchStream::sample, this, step_, Batch{});
}

const Batch& BatchStream::next() {
  Batch finished = std::exchange(current_, upcoming_.get());
  ++step_;
  upcoming_ = std::async(std::launch::async, &BatchStream::sample, this, step_, std::move(finished));
  return current_;
}

Batch BatchStream::sample(std::int64_t step, Batch reused) const {
  training_batch(*task_, batches_, step, reused);
  return reused;
}

}  // namespace che
