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
    : task_(create_task(config.task)),
      batches_(training_batches(config)),
      sampler_([this, first_step](const std::stop_token& stop) { sample_batches(stop, first_step); }) {}

BatchStream::~BatchStream() {
  sampler_.request_stop();
  is_wanted_.release();
}

const Batch& BatchStream::next() {
  is_sampled_.acquire();
  if (failure_) {
    is_sampled_.release();
    std::rethrow_exception(failure_);
  }
  std::swap(current_, upcoming_);
  is_wanted_.release();
  return current_;
}

void BatchStream::sample_batches(const std::stop_token& stop, std::int64_t step) {
  for (is_wanted_.acquire(); !stop.stop_requested(); is_wanted_.acquire()) {
    try {
      training_batch(*task_, batches_, step++, upcoming_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    is_sampled_.release();
  }
}

}  // namespace che
