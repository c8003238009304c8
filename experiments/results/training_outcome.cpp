#include "experiments/results/training_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/plan/identity.h"
#include "experiments/results/trivial_baselines.h"
#include "experiments/statistics/score_summary.h"

namespace che {

std::optional<Divergence> divergence(const RunConfig& config, const std::vector<MetricsRow>& metrics) {
  // A table has no corpus to ask for its symbols.
  if (config.has_text() || !has_final_steps(metrics, config.log.every_steps)) return std::nullopt;
  const auto symbols = static_cast<double>(create_task(config.task)->output_symbols().size());
  const Divergence outcome{.loss = final_training_loss(metrics), .untrained = std::log(symbols) + 0.5};
  return outcome.loss > outcome.untrained ? std::optional(outcome) : std::nullopt;
}

std::string divergence_text(const Divergence& divergence) {
  return fmt::format("diverged: training loss {:.3g} at the end, at most {:.3g} on average without training",
                     divergence.loss, divergence.untrained);
}

std::optional<TrainingOutcome> TrainingJudge::judge(const RunConfig& config,
                                                    const std::vector<MetricsRow>& metrics) {
  if (config.has_text() || config.is_foreign() || !config.is_drawn()) return std::nullopt;
  if (config.training.steps == 0) return TrainingOutcome();
  if (!has_final_steps(metrics, config.log.every_steps)) return std::nullopt;
  const std::optional<double> best = best_without_input(config);
  if (!best) return std::nullopt;
  const double accuracy = final_training_accuracy(metrics);
  return TrainingOutcome{.accuracy = accuracy,
                         .trained = accuracy >= *best + kTrainedMargin,
                         .diverged = divergence(config, metrics).has_value()};
}

std::optional<double> TrainingJudge::best_without_input(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  RunConfig key;
  key.task = config.task;
  const std::string name =
      fmt::format("{} {} {}", training.first_length, training.last_length, identity_text(key, {Role::kCell}));
  if (const auto found = measured_.find(name); found != measured_.end()) return found->second;
  if (measured_.size() == kMostMeasured) {
    has_unjudged_ = true;
    return std::nullopt;
  }
  // More lengths than these are represented by some of them, evenly apart.
  constexpr std::int64_t kMostLengths = 40;
  const EvaluationConfig lengths{
      .first_length = training.first_length,
      .last_length = training.last_length,
      .length_step = (training.last_length - training.first_length) / kMostLengths + 1};
  return measured_[name] =
             measure_trivial_baselines(config.task, lengths, lengths.lengths(), kMaxDrawnSymbols / 32)
                 .best_without_input()
                 .score;
}

}  // namespace che
