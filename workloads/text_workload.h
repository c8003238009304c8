#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tasks/task.h"
#include "texts/windows.h"
#include "workloads/text_config.h"
#include "workloads/workload.h"

namespace che {

// The settings that the batches of a run on a text depend on.
struct TextBatchSettings {
  TextConfig text;
  TrainingBatchSettings training;
  TextEvaluation evaluation;  // `longest` is a number: windows of so many tokens lie within documents.
  std::int64_t evaluation_seed = 0;
  std::int64_t evaluation_samples = 0;
  std::vector<std::int64_t> evaluation_lengths;
};

// A text for causal models: each token predicts the next. Lengths are in tokens.
class TextWorkload : public Workload {
 public:
  // Reads nothing yet: tables ask for the metric alone. Functions that need the corpus throw Error (usage)
  // where it is missing, damaged, or another one than the run is about.
  explicit TextWorkload(TextBatchSettings batches) : batches_(std::move(batches)) {}

  Vocabulary vocabulary() const override;
  Metric metric() const override {
    return {.source = Metric::Source::kPerplexity, .greater_is_better = false};
  }
  std::optional<double> chance(const std::vector<std::int64_t>&) const override { return std::nullopt; }
  std::vector<std::int64_t> lengths() const override { return batches_.evaluation_lengths; }
  std::int64_t longest_training_length() const override { return batches_.training.last_length; }
  std::int64_t tokens(std::int64_t length) const override { return length; }
  void training_batch(std::int64_t step, SequenceBatch& batch) const override;
  void evaluation_batch(std::int64_t length, std::int64_t first, std::int64_t count,
                        SequenceBatch& batch) const override;
  bool validation_batch(SequenceBatch& batch) const override;
  double training_bytes() const override;

  // The windows of the evaluation at `length`.
  std::vector<EvaluationWindow> windows(std::int64_t length) const;

 private:
  const Corpus& corpus() const;
  const TrainingWindows& training_windows(std::int64_t length) const;
  std::uint64_t keyed(std::uint64_t seed) const;
  void set_row(const Corpus& from, std::int64_t first_token, std::int64_t row, SequenceBatch& batch) const;
  void set_evaluation_rows(const std::vector<EvaluationWindow>& chosen, std::int64_t first,
                           std::int64_t count, SequenceBatch& batch) const;

  TextBatchSettings batches_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Corpus> corpus_;
  mutable std::map<std::int64_t, std::unique_ptr<TrainingWindows>> by_length_;
};

}  // namespace che
