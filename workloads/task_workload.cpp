#include "workloads/task_workload.h"

#include <algorithm>
#include <utility>

namespace che {

TaskWorkload::TaskWorkload(std::unique_ptr<Task> task, TaskBatchSettings batches)
    : task_(std::move(task)), batches_(std::move(batches)) {}

Vocabulary TaskWorkload::vocabulary() const {
  // The empty symbol is the last token.
  return {.tokens = static_cast<std::int64_t>(task_->input_symbols().size()) + 1,
          .classes = static_cast<std::int64_t>(task_->output_symbols().size())};
}

std::optional<double> TaskWorkload::chance(const std::vector<std::int64_t>& lengths) const {
  double mean = 0;  // A running mean gives a constant chance exactly.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    mean += (task_->chance_at(lengths[i]) - mean) / static_cast<double>(i + 1);
  }
  return mean;
}

std::int64_t TaskWorkload::longest_training_length() const {
  std::int64_t longest = batches_.training.first_length;
  for (std::int64_t length = longest; length <= batches_.training.last_length; ++length) {
    // A greater length need not be the longer sequence.
    if (tokens(length) > tokens(longest)) longest = length;
  }
  return longest;
}

std::int64_t TaskWorkload::tokens(std::int64_t length) const {
  return task_->input_length(length) + task_->output_length(length);
}

void TaskWorkload::training_batch(std::int64_t step, SequenceBatch& batch) const {
  Batch samples;
  che::training_batch(*task_, batches_.training, step, samples);
  set_batch(samples, batch);
}

void TaskWorkload::evaluation_batch(std::int64_t length, std::int64_t first, std::int64_t count,
                                    SequenceBatch& batch) const {
  Batch samples;
  sample_batch(*task_, evaluation_key(batches_.evaluation_seed, length, first), length, count, samples);
  set_batch(samples, batch);
}

void TaskWorkload::set_batch(const Batch& samples, SequenceBatch& batch) const {
  batch.length = samples.length;
  batch.size = samples.size;
  batch.width = samples.input_length + samples.output_length;
  batch.outputs = samples.output_length;
  const auto empty_symbol = static_cast<std::int32_t>(task_->input_symbols().size());
  batch.tokens.assign(static_cast<std::size_t>(batch.size * batch.width), empty_symbol);
  for (std::int64_t i = 0; i < batch.size; ++i) {
    std::copy_n(samples.input.begin() + i * samples.input_length, samples.input_length,
                batch.tokens.begin() + i * batch.width);
  }
  batch.targets.assign(samples.output.begin(), samples.output.end());
  batch.mask = samples.mask;
}

}  // namespace che
