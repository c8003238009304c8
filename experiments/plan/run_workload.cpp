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

Positions create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose, std::uint64_t step,
                           std::uint64_t batch) {
  const PositionSource source = config.encoding.positions;
  const bool is_stretched = source == PositionSource::kEqualMean && purpose != Purpose::kEvaluationPositions;
  if (config.encoding.position_limit() == 0 && !is_stretched) return {};
  // The name of a registered task is its key.
  const std::string& stream_key = config.task.is_declared() ? config.task.definition : config.task.name;
  return Positions::drawn(source, config.encoding.max_position,
                          keyed_seed(static_cast<std::uint64_t>(seed), stream_key), purpose, step, batch);
}

}  // namespace che
