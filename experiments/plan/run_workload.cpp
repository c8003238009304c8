#include "experiments/plan/run_workload.h"

#include <utility>

#include "workloads/task_workload.h"
#include "workloads/text_workload.h"

namespace che {

std::unique_ptr<Workload> create_workload(const RunConfig& config) {
  const TrainingBatchSettings training{.data_seed = static_cast<std::uint64_t>(config.data_seed),
                                       .batch_size = config.training.batch_size,
                                       .first_length = config.training.first_length,
                                       .last_length = config.training.last_length};
  if (!config.has_text()) {
    return std::make_unique<TaskWorkload>(
        create_task(config.task), TaskBatchSettings{.training = training,
                                                    .evaluation_seed = config.evaluation.seed,
                                                    .evaluation_lengths = config.evaluation.lengths()});
  }
  TextEvaluation evaluation = config.evaluation.text;
  evaluation.longest = longest_window(config.evaluation);
  return std::make_unique<TextWorkload>(TextBatchSettings{.text = config.text,
                                                          .training = training,
                                                          .evaluation = evaluation,
                                                          .evaluation_seed = config.evaluation.seed,
                                                          .evaluation_samples = config.evaluation.samples,
                                                          .evaluation_lengths = config.evaluation.lengths()});
}

void check_windows(const RunConfig& run) {
  if (!run.has_text()) return;
  const auto workload = create_workload(run);
  SequenceBatch batch;
  for (const std::int64_t length : workload->lengths()) workload->evaluation_batch(length, 0, 1, batch);
}

Level level_of(const RunConfig& config) {
  return config.has_text() ? Level::kText : create_task(config.task)->level();
}

Positions create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose, std::uint64_t step,
                           std::uint64_t batch) {
  const PositionSource source = config.encoding.positions;
  const bool is_stretched = source == PositionSource::kEqualMean && purpose != Purpose::kEvaluationPositions;
  if (config.encoding.position_limit() == 0 && !is_stretched) return {};
  // The name of a registered task or a text is its key.
  const std::string& stream_key = config.task.is_declared() ? config.task.definition : config.subject();
  return Positions::drawn(source, config.encoding.max_position,
                          keyed_seed(static_cast<std::uint64_t>(seed), stream_key), purpose, step, batch);
}

}  // namespace che
