#include "experiments/plan/run_workload.h"

#include <utility>

#include "workloads/task_workload.h"
#include "workloads/text_workload.h"

namespace che {

namespace {

std::unique_ptr<Workload> text_workload(const RunConfig& config) {
  const TextEvaluation& evaluation = config.evaluation.text;
  std::vector<std::int64_t> lengths = config.evaluation.lengths();
  return std::make_unique<TextWorkload>(TextBatchSettings{.corpus = config.text.corpus,
                                                          .hash = config.text.hash,
                                                          .name = config.text.name,
                                                          .documents = config.text.documents,
                                                          .data_seed = config.data_seed,
                                                          .batch_size = config.training.batch_size,
                                                          .first_length = config.training.first_length,
                                                          .last_length = config.training.last_length,
                                                          .part = evaluation.part,
                                                          .protocol = evaluation.protocol,
                                                          .windows = evaluation.windows,
                                                          .last = evaluation.last,
                                                          .stride = evaluation.stride,
                                                          .longest = longest_window(config.evaluation),
                                                          .samples = config.evaluation.samples,
                                                          .evaluation_seed = config.evaluation.seed,
                                                          .lengths = std::move(lengths)});
}

}  // namespace

std::unique_ptr<Workload> create_workload(const RunConfig& config) {
  if (config.has_text()) return text_workload(config);
  const TrainingConfig& training = config.training;
  return std::make_unique<TaskWorkload>(
      create_task(config.task),
      TaskBatchSettings{.training = {.data_seed = static_cast<std::uint64_t>(config.data_seed),
                                     .batch_size = training.batch_size,
                                     .first_length = training.first_length,
                                     .last_length = training.last_length},
                        .evaluation_seed = config.evaluation.seed,
                        .evaluation_lengths = config.evaluation.lengths()});
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
