#include "experiments/analysis/training_outcome.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/analysis/trivial_baselines.h"
#include "experiments/plan/identity.h"

namespace che {
namespace {

constexpr double kLastFraction = 0.1;

// Averages a measurement over the last tenth of the steps.
double final_mean(const std::vector<MetricsRow>& metrics, double MetricsRow::*measurement) {
  const double first = (1 - kLastFraction) * static_cast<double>(metrics.back().step);
  double sum = 0;
  double steps = 0;
  double before = 0;
  for (const MetricsRow& row : metrics) {
    const auto step = static_cast<double>(row.step);
    const double weight = step - before;
    before = step;
    if (step <= first) continue;
    sum += weight * row.*measurement;
    steps += weight;
  }
  return sum / steps;
}

}  // namespace

double final_training_accuracy(const std::vector<MetricsRow>& metrics) {
  return final_mean(metrics, &MetricsRow::accuracy);
}

std::optional<Divergence> divergence(const RunConfig& config, const std::vector<MetricsRow>& metrics) {
  if (metrics.empty()) return std::nullopt;
  const auto symbols = static_cast<double>(create_task(config.task)->output_symbols().size());
  const Divergence found{.loss = final_mean(metrics, &MetricsRow::loss),
                         .untrained = std::log(symbols) + 0.5};
  return found.loss > found.untrained ? std::optional(found) : std::nullopt;
}

std::string divergence_text(const Divergence& divergence) {
  return fmt::format("diverged: training loss {:.3g} at the end, at most {:.3g} without training",
                     divergence.loss, divergence.untrained);
}

std::optional<TrainingOutcome> TrainingJudge::judge(const RunConfig& config,
                                                    const std::vector<MetricsRow>& metrics) {
  if (metrics.empty() || !is_drawn(config.task)) return std::nullopt;
  TrainingOutcome outcome{.accuracy = final_training_accuracy(metrics),
                          .diverged = divergence(config, metrics).has_value()};
  outcome.trained = outcome.accuracy >= best_without_input(config) + kTrainedMargin;
  return outcome;
}

double TrainingJudge::best_without_input(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  RunConfig key;
  key.task = config.task;
  const auto [measured, is_new] = measured_.try_emplace(fmt::format(
      "{} {} {}", training.first_length, training.last_length, identity_text(key, {Role::kCell})));
  if (is_new) {
    const EvaluationConfig lengths{.first_length = training.first_length,
                                   .last_length = training.last_length};
    measured->second = measure_trivial_baselines(config.task, lengths).best_without_input().score;
  }
  return measured->second;
}

}  // namespace che
