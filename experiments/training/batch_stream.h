#pragma once

#include <future>
#include <memory>
#include <string>

#include "experiments/plan/run_config.h"
#include "tasks/training_batch.h"

namespace che {

// What `config` says about its training batches.
TrainingBatches training_batches(const RunConfig& config);

// The training batches of a run, step after step; the next one is sampled in the background while
// the caller works on the current one.
class BatchStream {
 public:
  BatchStream(const RunConfig& config, std::int64_t first_step);

  // The batch of the next step. The reference is good until the next call.
  const Batch& next();

 private:
  Batch sample(std::int64_t step, Batch reused) const;

  std::unique_ptr<Task> task_;
  TrainingBatches batches_;
  std::int64_t step_;
  Batch current_;
  std::future<Batch> upcoming_;
};

}  // namespace che
