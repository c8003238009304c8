#pragma once

#include <future>

#include "experiments/config.h"
#include "tasks/task.h"

namespace che {

// The training length of a step, uniform over the config's lengths; depends on (task, data_seed,
// step) only.
std::int64_t training_length(const RunConfig& config, std::int64_t step);

// The training batches of a run, step after step; the next one is sampled in the background while
// the caller works on the current one.
class BatchStream {
 public:
  BatchStream(const RunConfig& config, std::int64_t first_step);

  // The batch of the next step. The reference is good until the next call.
  const Batch& next();

 private:
  Batch sample(std::int64_t step, Batch reused) const;

  RunConfig config_;
  std::unique_ptr<Task> task_;
  std::int64_t step_;
  Batch current_;
  std::future<Batch> upcoming_;
};

}  // namespace che
