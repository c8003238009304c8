#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// The score of a predictor on the samples that models are evaluated on.
struct Baseline {
  double score = 0;  // Accuracy, 0 .. 1, mean over the test lengths.
  // Standard error of the score over draws of the test samples, from the scatter of the evaluation batches;
  // nothing where some length has one batch only.
  std::optional<double> standard_error = std::nullopt;
};

// The scores of predictors without a model, on the samples that models are evaluated on.
struct TrivialBaselines {
  struct AtLength {
    std::int64_t length;
    double constant;       // Accuracy, 0 .. 1
    double position_only;  // Accuracy, 0 .. 1
  };

  char symbol = ' ';  // The answer of the constant predictor.
  // One symbol for all positions and lengths: the best one on these samples.
  Baseline constant;
  // The likeliest symbol of each position in the output of each length. It is fitted to other samples, so
  // that a task without structure gives chance and no more.
  Baseline position_only;
  // The most frequent input symbol of each sample, among those that the output can hold; nothing where the
  // output has symbols, other than its terminator, that the input has not. It counts the input's symbols and
  // does not see their order.
  std::optional<Baseline> frequent_symbol;
  std::vector<AtLength> lengths;

  // Returns the baseline with the highest score.
  const Baseline& best() const;
  // Returns the better one of the two that do not see the input.
  const Baseline& best_without_input() const;
};

// The input symbols that predictors are fitted to, at most, and those that they are measured on: a stranger's
// run may ask for hours of sampling. Symbols of a large alphabet and of balanced samples count more, as they
// take longer to draw. One sample of each length is drawn whatever the bound.
inline constexpr std::int64_t kMaxDrawnSymbols = std::int64_t{1} << 28;

// Measures them from the task's generator at these lengths, with the samples and the seed of `evaluation`, or
// with fewer samples where `max_symbols` says so. The same arguments give the same numbers.
TrivialBaselines measure_trivial_baselines(const TaskConfig& task, const EvaluationConfig& evaluation,
                                           const std::vector<std::int64_t>& lengths,
                                           std::int64_t max_symbols = kMaxDrawnSymbols);
inline TrivialBaselines measure_trivial_baselines(const TaskConfig& task,
                                                  const EvaluationConfig& evaluation) {
  return measure_trivial_baselines(task, evaluation, evaluation.lengths());
}

}  // namespace che
