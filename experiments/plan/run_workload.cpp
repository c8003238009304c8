#include "experiments/plan/run_workload.h"

#include "workloads/task_workload.h"

namespace che {

std::unique_ptr<Workload> create_workload(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  return std::make_unique<TaskWorkload>(
      create_task(config.task),
      TaskBatches{.training = {.data_seed = static_cast<std::uint64_t>(config.data_seed),
                               .batch_size = training.batch_size,
                               .first_length = training.first_length,
                               .last_length = training.last_length},
                  .evaluation_seed = config.evaluation.seed,
                  .evaluation_lengths = config.evaluation.lengths()});
}

}  // namespace che
