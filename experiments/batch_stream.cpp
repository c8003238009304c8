#include "experiments/batch_stream.h"

#include <utility>

namespace che {
namespace {

std::uint64_t data_seed(const RunConfig& config) { return static_cast<std::uint64_t>(config.data_seed); }

}  // namespace

std::int64_t training_length(const RunConfig& config, std::int64_t step) {
  const TrainingConfig& training = config.training;
  RandomStream random(keyed_seed(data_seed(config), config.task.name), Purpose::kLengths,
                      static_cast<std::uint64_t>(step));
  const std::int64_t choices = training.last_length - training.first_length + 1;
  return training.first_length + random.below(static_cast<std::uint64_t>(choices));
}

BatchStream::BatchStream(const RunConfig& config, std::int64_t first_step)
    : config_(config), task_(create_task(config.task.name, config.task.options)), step_(first_step) {
  upcoming_ = std::async(std::launch::async, &BatchStream::sample, this, step_, Batch{});
}

const Batch& BatchStream::next() {
  Batch finished = std::exchange(current_, upcoming_.get());
  ++step_;
  upcoming_ = std::async(std::launch::async, &BatchStream::sample, this, step_, std::move(finished));
  return current_;
}

Batch BatchStream::sample(std::int64_t step, Batch reused) const {
  const BatchKey key{data_seed(config_), Purpose::kData, static_cast<std::uint64_t>(step), 0};
  sample_batch(*task_, config_.task.name, key, training_length(config_, step), config_.training.batch_size,
               reused);
  return reused;
}

}  // namespace che
