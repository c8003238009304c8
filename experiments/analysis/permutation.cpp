#include "experiments/analysis/permutation.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <cstdint>

#include "core/random.h"

namespace che {
namespace {

// Streams of random numbers, one a use.
constexpr std::uint64_t kFlips = 0;
constexpr std::uint64_t kResamples = 1;

// Statistics of two assignments that are equal on paper differ by rounding.
double rounding_of(const std::vector<double>& differences) {
  double sum = 0;
  for (const double difference : differences) sum += std::abs(difference);
  return 1e-12 * sum;
}

std::vector<double> flipped(const std::vector<double>& differences, std::uint64_t signs) {
  std::vector<double> result = differences;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if ((signs >> i & 1U) != 0) result[i] = -result[i];
  }
  return result;
}

}  // namespace

double sign_flip_p(const std::vector<double>& differences, Aggregate aggregate) {
  const double least = std::abs(aggregate_of(differences, aggregate)) - rounding_of(differences);
  const auto is_as_far = [&](const std::vector<double>& assigned) {
    return std::abs(aggregate_of(assigned, aggregate)) >= least;
  };
  const std::size_t n = differences.size();
  if (n <= kMaxExactPairs) {
    // The other half of the assignments mirrors this one.
    const std::uint64_t half = std::uint64_t{1} << (n - 1);
    std::uint64_t as_far = 0;
    for (std::uint64_t signs = 0; signs < half; ++signs) {
      as_far += is_as_far(flipped(differences, signs)) ? 1U : 0U;
    }
    return static_cast<double>(as_far) / static_cast<double>(half);
  }
  RandomStream random(0, Purpose::kStatistics, kFlips);
  std::size_t as_far = 1;  // The observed one.
  for (std::size_t i = 0; i < kRandomAssignments; ++i) {
    std::vector<double> assigned = differences;
    for (double& difference : assigned) difference = random.below(2) == 0 ? difference : -difference;
    as_far += is_as_far(assigned) ? 1U : 0U;
  }
  return static_cast<double>(as_far) / static_cast<double>(kRandomAssignments + 1);
}

Interval bootstrap_interval(const std::vector<double>& differences, Aggregate aggregate, double coverage) {
  RandomStream random(0, Purpose::kStatistics, kResamples);
  std::vector<double> statistics;
  for (std::size_t i = 0; i < kBootstrapResamples; ++i) {
    std::vector<double> resample(differences.size());
    for (double& value : resample) value = differences[random.below(differences.size())];
    statistics.push_back(aggregate_of(std::move(resample), aggregate));
  }
  std::sort(statistics.begin(), statistics.end());
  return {.low = quantile(statistics, (1 - coverage) / 2), .high = quantile(statistics, (1 + coverage) / 2)};
}

double detectable_difference(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  const boost::math::students_t t(n - 1);
  const double deviation = std::sqrt(boost::math::statistics::sample_variance(differences));
  return (boost::math::quantile(t, 0.975) + boost::math::quantile(t, 0.8)) * deviation / std::sqrt(n);
}

std::vector<std::optional<double>> holm_adjusted(const std::vector<std::optional<double>>& p_values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    if (p_values[i]) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *p_values[i]; });
  std::vector<std::optional<double>> adjusted(p_values.size());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = static_cast<double>(order.size() - rank) * *p_values[order[rank]];
    highest = std::max(highest, std::min(scaled, 1.0));
    adjusted[order[rank]] = highest;
  }
  return adjusted;
}

}  // namespace che
