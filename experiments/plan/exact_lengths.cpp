#include "experiments/plan/exact_lengths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace che {

EvaluationConfig with_exact_lengths(EvaluationConfig evaluation) {
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.empty()) return evaluation;  // A reversed range, which measures nothing.
  evaluation.listed_lengths.clear();
  evaluation.first_length = lengths.front();
  evaluation.last_length = lengths.back();
  evaluation.length_step = lengths.size() == 1 ? 1 : lengths[1] - lengths[0];
  if (evaluation.lengths() != lengths) evaluation.listed_lengths = lengths;
  return evaluation;
}

std::string lengths_text(const EvaluationConfig& evaluation) {
  const EvaluationConfig exact = with_exact_lengths(evaluation);
  if (!exact.listed_lengths.empty()) return fmt::format("{}", fmt::join(exact.listed_lengths, ", "));
  return fmt::format("{}..{}{}", exact.first_length, exact.last_length,
                     exact.length_step == 1 ? "" : fmt::format(" in steps of {}", exact.length_step));
}

bool is_tested_within_training(const RunConfig& config) {
  return config.evaluation.lengths().front() <= config.training.last_length;
}

}  // namespace che
