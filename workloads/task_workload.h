#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tasks/task.h"
#include "workloads/workload.h"

namespace che {

// The settings that the batches of a run on a task depend on.
struct TaskBatchSettings {
  TrainingBatchSettings training;
  std::int64_t evaluation_seed = 0;
  std::vector<std::int64_t> evaluation_lengths;
};

// A formal-language task for sequence models: the tokens are the input and then an empty symbol for every
// symbol of the output, which the model predicts there.
class TaskWorkload : public Workload {
 public:
  TaskWorkload(std::unique_ptr<Task> task, TaskBatchSettings batches);

  Vocabulary vocabulary() const override;
  Metric metric() const override { return {}; }
  std::optional<double> chance(const std::vector<std::int64_t>& lengths) const override;
  std::vector<std::int64_t> lengths() const override { return batches_.evaluation_lengths; }
  std::int64_t longest_training_length() const override;
  std::int64_t tokens(std::int64_t length) const override;
  void training_batch(std::int64_t step, SequenceBatch& batch) const override;
  void evaluation_batch(std::int64_t length, std::int64_t first, std::int64_t count,
                        SequenceBatch& batch) const override;

 private:
  void set_batch(const Batch& samples, SequenceBatch& batch) const;

  std::unique_ptr<Task> task_;
  TaskBatchSettings batches_;
};

}  // namespace che
