#include "experiments/plan/exact_lengths.h"

namespace che {

EvaluationConfig with_exact_lengths(EvaluationConfig evaluation) {
  const std::int64_t first = evaluation.first_length;
  if (evaluation.last_length < first) return evaluation;  // Which measures nothing.
  evaluation.last_length -= (evaluation.last_length - first) % evaluation.length_step;
  if (evaluation.last_length == first) evaluation.length_step = 1;
  return evaluation;
}

bool is_tested_within_training(const RunConfig& config) {
  return config.evaluation.first_length <= config.training.last_length;
}

}  // namespace che
