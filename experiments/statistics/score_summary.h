#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/store/run_rows.h"
#include "workloads/metric.h"

namespace che {

// The number that stands for the scores of a cell's runs.
enum class Aggregate { kMax, kMean, kMedian, kIqm };

// The words of the command line are "max", "mean", "median" and "iqm". Throws Error (usage) for another word.
const std::vector<std::string>& aggregate_names();
// "max" is "min" for a metric of which less is better.
std::string_view aggregate_name(Aggregate aggregate, const Metric& metric = {});
Aggregate aggregate_named(std::string_view name);

// "the maximum", "the mean", ... for a sentence.
std::string_view aggregate_phrase(Aggregate aggregate);

// These describe ScoreSummary::spread and ScoreSummary::range in a sentence.
std::string_view spread_phrase(Aggregate aggregate);
std::string_view range_phrase(Aggregate aggregate);

// Summarizes the scores of a cell's finished runs. Spreads need two runs or more.
struct ScoreSummary {
  std::size_t n = 0;
  double best = 0;  // The maximum where greater is better.
  double max = 0;
  double min = 0;
  double mean = 0;
  double median = 0;
  // Interquartile mean: without the lowest and the highest floor(n / 4) scores (Agarwal et al., arXiv
  // 2108.13264); the mean where there are fewer than four.
  double iqm = 0;
  std::optional<double> deviation;                     // Sample standard deviation (n - 1).
  std::optional<std::pair<double, double>> quartiles;  // The first and the third.

  double value(Aggregate aggregate) const;
  // The lowest and the highest score for the maximum, the quartiles for the median and the interquartile
  // mean; nothing for the mean, whose spread is the standard deviation.
  std::optional<std::pair<double, double>> range(Aggregate aggregate) const;
  // The standard deviation for the mean, the width of range() for the others.
  std::optional<double> spread(Aggregate aggregate) const;
};

// Summarizes one score or more.
ScoreSummary summarize(std::vector<double> scores, const Metric& metric = {});

// One aggregate of one value or more. The maximum is the best value by the metric.
double aggregate_of(std::vector<double> values, Aggregate aggregate, const Metric& metric = {});

// Quantile of ascending values with linear interpolation between neighbours (Hyndman and Fan's
// type 7); 0 <= fraction <= 1.
double quantile(const std::vector<double>& ascending, double fraction);

// Whether the rows cover the last tenth of the steps. Where earlier ones were lost, nothing tells at which
// step the first row begins, unless it is no longer than a row of `every_steps`.
bool has_final_steps(const std::vector<MetricsRow>& metrics, std::int64_t every_steps);
// Returns the step behind which the last tenth of the steps in `metrics`, which have it, is counted:
// the end of the last row before that tenth.
std::int64_t begin_of_final_steps(const std::vector<MetricsRow>& metrics);
// Mean training accuracy over these steps. Each row is the mean of the steps since the row before it and has
// their weight.
double final_training_accuracy(const std::vector<MetricsRow>& metrics);
// The same mean of the training loss.
double final_training_loss(const std::vector<MetricsRow>& metrics);
// The last loss on the validation part of a text, if there is one.
std::optional<double> final_validation_loss(const std::vector<MetricsRow>& metrics);

}  // namespace che
