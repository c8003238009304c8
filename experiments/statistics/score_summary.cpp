#include "experiments/statistics/score_summary.h"

#include <algorithm>
#include <array>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/suggestion.h"

namespace che {
namespace {

namespace statistics = boost::math::statistics;

// Phrases for sentences, in the order of Aggregate.
struct Phrases {
  std::string_view aggregate;
  std::string_view spread;
  std::string_view range;
};
constexpr std::array<Phrases, 4> kPhrases = {
    {{"the maximum", "the highest minus the lowest score", "the lowest and the highest score"},
     {"the mean", "the standard deviation (n - 1)", "the standard deviation (n - 1)"},
     {"the median", "the interquartile range", "the first and the third quartile"},
     {"the interquartile mean", "the interquartile range", "the first and the third quartile"}}};

std::size_t index_of(Aggregate aggregate) { return static_cast<std::size_t>(aggregate); }

// Infinite perplexities have an infinite mean, of which Boost's running mean makes no number.
double mean_of(std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return std::isfinite(sum) ? statistics::mean(values.begin(), values.end()) : sum;
}

double interquartile_mean(const std::vector<double>& ascending) {
  const std::size_t cut = ascending.size() / 4;
  return mean_of(std::span(ascending).subspan(cut, ascending.size() - 2 * cut));
}

// Averages a measurement over the last tenth of the steps.
double final_mean(const std::vector<MetricsRow>& metrics, double MetricsRow::*measurement) {
  const std::int64_t begin = begin_of_final_steps(metrics);
  double sum = 0;
  std::int64_t before = begin;
  for (const MetricsRow& row : metrics) {
    if (row.step <= begin) continue;
    sum += static_cast<double>(row.step - before) * row.*measurement;
    before = row.step;
  }
  return sum / static_cast<double>(before - begin);
}

}  // namespace

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = {"max", "mean", "median", "iqm"};
  return names;
}

std::string_view aggregate_name(Aggregate aggregate, const Metric& metric) {
  if (aggregate == Aggregate::kMax && !metric.greater_is_better) return "min";
  return aggregate_names()[index_of(aggregate)];
}

Aggregate aggregate_named(std::string_view name) {
  const auto& names = aggregate_names();
  const auto place = std::ranges::find(names, name);
  if (place == names.end()) {
    throw Error("unknown aggregate '" + std::string(name) + "'" + known_names_hint(name, names));
  }
  return static_cast<Aggregate>(place - names.begin());
}

std::string_view aggregate_phrase(Aggregate aggregate) { return kPhrases[index_of(aggregate)].aggregate; }
std::string_view spread_phrase(Aggregate aggregate) { return kPhrases[index_of(aggregate)].spread; }
std::string_view range_phrase(Aggregate aggregate) { return kPhrases[index_of(aggregate)].range; }

double ScoreSummary::value(Aggregate aggregate) const {
  return std::array{best, mean, median, iqm}[index_of(aggregate)];
}

std::optional<std::pair<double, double>> ScoreSummary::range(Aggregate aggregate) const {
  if (n < 2 || aggregate == Aggregate::kMean) return std::nullopt;
  return aggregate == Aggregate::kMax ? std::pair(min, max) : quartiles;
}

std::optional<double> ScoreSummary::spread(Aggregate aggregate) const {
  const auto ends = range(aggregate);
  if (ends && std::isinf(ends->first)) return std::nullopt;  // Both are infinite.
  return ends ? ends->second - ends->first : deviation;
}

ScoreSummary summarize(std::vector<double> scores, const Metric& metric) {
  std::sort(scores.begin(), scores.end());
  ScoreSummary summary{.n = scores.size(),
                       .best = metric.greater_is_better ? scores.back() : scores.front(),
                       .max = scores.back(),
                       .min = scores.front(),
                       .mean = mean_of(scores),
                       .median = quantile(scores, 0.5),
                       .iqm = interquartile_mean(scores),
                       .deviation = std::nullopt,
                       .quartiles = std::nullopt};
  if (scores.size() > 1) {
    if (std::isfinite(summary.mean)) summary.deviation = std::sqrt(statistics::sample_variance(scores));
    summary.quartiles = {quantile(scores, 0.25), quantile(scores, 0.75)};
  }
  return summary;
}

double aggregate_of(std::vector<double> values, Aggregate aggregate, const Metric& metric) {
  if (aggregate == Aggregate::kMean) return mean_of(values);
  std::sort(values.begin(), values.end());
  if (aggregate == Aggregate::kMax) return metric.greater_is_better ? values.back() : values.front();
  return aggregate == Aggregate::kMedian ? quantile(values, 0.5) : interquartile_mean(values);
}

double quantile(const std::vector<double>& ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double weight = place - static_cast<double>(below);
  // Neighbours that are equal stay exactly what they are, infinite ones, too.
  if (weight == 0 || ascending[below] == ascending[above]) return ascending[below];
  return ascending[below] + weight * (ascending[above] - ascending[below]);
}

bool has_final_steps(const std::vector<MetricsRow>& metrics, std::int64_t every_steps) {
  return !metrics.empty() && (begin_of_final_steps(metrics) > 0 || metrics.front().step <= every_steps);
}

std::int64_t begin_of_final_steps(const std::vector<MetricsRow>& metrics) {
  constexpr double kFirstFraction = 0.9;
  const double first = kFirstFraction * static_cast<double>(metrics.back().step);
  std::int64_t begin = 0;
  for (const MetricsRow& row : metrics) {
    if (static_cast<double>(row.step) <= first) begin = row.step;
  }
  return begin;
}

double final_training_accuracy(const std::vector<MetricsRow>& metrics) {
  return final_mean(metrics, &MetricsRow::accuracy);
}

double final_training_loss(const std::vector<MetricsRow>& metrics) {
  return final_mean(metrics, &MetricsRow::loss);
}

std::optional<double> final_validation_loss(const std::vector<MetricsRow>& metrics) {
  const auto last = std::find_if(metrics.rbegin(), metrics.rend(),
                                 [](const MetricsRow& row) { return row.validation_loss.has_value(); });
  return last == metrics.rend() ? std::nullopt : last->validation_loss;
}

}  // namespace che
