#include "experiments/analysis/score_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/suggestion.h"

namespace che {

namespace statistics = boost::math::statistics;

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = {"max", "mean", "median", "iqm"};
  return names;
}

std::string_view aggregate_name(Aggregate aggregate) {
  return aggregate_names()[static_cast<std::size_t>(aggregate)];
}

Aggregate aggregate_named(std::string_view name) {
  const auto& names = aggregate_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error("unknown aggregate '" + std::string(name) + "'" + known_names_hint(name, names));
  }
  return static_cast<Aggregate>(found - names.begin());
}

std::string_view aggregate_phrase(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMax:
      return "the maximum";
    case Aggregate::kMean:
      return "the mean";
    case Aggregate::kMedian:
      return "the median";
    case Aggregate::kIqm:
      return "the interquartile mean";
  }
  throw Error("aggregate out of range", ErrorKind::kRuntime);
}

std::string_view spread_phrase(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMax:
      return "the highest minus the lowest score";
    case Aggregate::kMean:
      return "the standard deviation (n - 1)";
    case Aggregate::kMedian:
    case Aggregate::kIqm:
      return "the interquartile range";
  }
  throw Error("aggregate out of range", ErrorKind::kRuntime);
}

std::string_view range_phrase(Aggregate aggregate) {
  if (aggregate == Aggregate::kMax) return "the lowest and the highest score";
  return aggregate == Aggregate::kMean ? spread_phrase(aggregate) : "the first and the third quartile";
}

double ScoreSummary::value(Aggregate aggregate) const {
  switch (aggregate) {
    case Aggregate::kMax:
      return max;
    case Aggregate::kMean:
      return mean;
    case Aggregate::kMedian:
      return median;
    case Aggregate::kIqm:
      return iqm;
  }
  throw Error("aggregate out of range", ErrorKind::kRuntime);
}

std::optional<std::pair<double, double>> ScoreSummary::range(Aggregate aggregate) const {
  if (n < 2 || aggregate == Aggregate::kMean) return std::nullopt;
  return aggregate == Aggregate::kMax ? std::pair(min, max) : quartiles;
}

std::optional<double> ScoreSummary::spread(Aggregate aggregate) const {
  const auto ends = range(aggregate);
  return ends ? ends->second - ends->first : deviation;
}

double rounded_percent(double fraction) {
  return std::strtod(fmt::format("{:.1f}", 100 * fraction).c_str(), nullptr);
}

ScoreSummary summarize(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end());
  ScoreSummary summary{.n = scores.size(),
                       .max = scores.back(),
                       .min = scores.front(),
                       .mean = statistics::mean(scores),
                       .median = quantile(scores, 0.5),
                       .iqm = interquartile_mean(scores),
                       .deviation = std::nullopt,
                       .quartiles = std::nullopt};
  if (scores.size() > 1) {
    summary.deviation = std::sqrt(statistics::sample_variance(scores));
    summary.quartiles = {quantile(scores, 0.25), quantile(scores, 0.75)};
  }
  return summary;
}

double aggregate_of(std::vector<double> values, Aggregate aggregate) {
  if (aggregate == Aggregate::kMean) return statistics::mean(values);
  std::sort(values.begin(), values.end());
  if (aggregate == Aggregate::kMax) return values.back();
  return aggregate == Aggregate::kMedian ? quantile(values, 0.5) : interquartile_mean(values);
}

double quantile(const std::vector<double>& ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double weight = place - static_cast<double>(below);
  // Neighbours that are equal stay exactly what they are.
  return ascending[below] + weight * (ascending[above] - ascending[below]);
}

double interquartile_mean(const std::vector<double>& ascending) {
  const auto cut = static_cast<std::ptrdiff_t>(ascending.size() / 4);
  return statistics::mean(ascending.begin() + cut, ascending.end() - cut);
}

}  // namespace che
