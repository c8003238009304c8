#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <semaphore>
#include <thread>

#include "experiments/plan/run_config.h"
#include "tasks/task.h"

namespace che {

// What `config` says about its training batches.
TrainingBatches training_batches(const RunConfig& config);

// The training batches of a run, step after step. A thread samples the next one while the caller works on
// the current one; there is one for all steps, because starting a thread takes time and can fail.
class BatchStream {
 public:
  BatchStream(const RunConfig& config, std::int64_t first_step);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // The batch of the next step. The reference is good until the next call. Throws what sampling threw; there
  // is no batch after that.
  const Batch& next();

 private:
  void sample_batches(const std::stop_token& stop, std::int64_t step);

  std::unique_ptr<Task> task_;
  TrainingBatches batches_;
  Batch current_;
  Batch upcoming_;
  std::exception_ptr failure_;
  // They hand `upcoming_` and `failure_` to the thread, and back. The destructor releases the first a second
  // time.
  std::counting_semaphore<2> is_wanted_{1};
  std::counting_semaphore<2> is_sampled_{0};
  std::jthread sampler_;
};

}  // namespace che
