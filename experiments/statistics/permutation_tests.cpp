#include "experiments/statistics/permutation_tests.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace che {
namespace {

// Streams of random numbers, one a use.
constexpr std::uint64_t kFlips = 0;
constexpr std::uint64_t kResamples = 1;
constexpr std::uint64_t kOrders = 2;
constexpr std::uint64_t kSplits = 4;

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

template <class Value>
void shuffle(std::vector<Value>& values, RandomStream& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

// The interval of what `draw` gives so many times.
Interval percentiles(const std::function<double(RandomStream&)>& draw, std::size_t draws, double coverage) {
  RandomStream random(0, Purpose::kStatistics, kResamples);
  std::vector<double> statistics;
  for (std::size_t i = 0; i < draws; ++i) statistics.push_back(draw(random));
  std::sort(statistics.begin(), statistics.end());
  return {.low = quantile(statistics, (1 - coverage) / 2), .high = quantile(statistics, (1 + coverage) / 2)};
}

double resampled(const std::vector<double>& values, Aggregate aggregate, RandomStream& random) {
  std::vector<double> resample(values.size());
  for (double& value : resample) value = values[random.below(values.size())];
  return aggregate_of(std::move(resample), aggregate);
}

}  // namespace

std::size_t draws_of(std::size_t differences) {
  return std::clamp<std::size_t>(kDrawnValues / differences, 1000, kMaxDraws);
}

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
  const std::size_t draws = draws_of(n);
  std::size_t as_far = 1;  // The observed one.
  for (std::size_t i = 0; i < draws; ++i) {
    std::vector<double> assigned = differences;
    for (double& difference : assigned) difference = random.below(2) == 0 ? difference : -difference;
    as_far += is_as_far(assigned) ? 1U : 0U;
  }
  return static_cast<double>(as_far) / static_cast<double>(draws + 1);
}

Interval bootstrap_interval(const std::vector<double>& differences, Aggregate aggregate, double coverage) {
  return percentiles([&](RandomStream& random) { return resampled(differences, aggregate, random); },
                     draws_of(differences.size()), coverage);
}

Interval bootstrap_interval(const std::vector<double>& one, const std::vector<double>& other,
                            Aggregate aggregate, double coverage) {
  return percentiles(
      [&](RandomStream& random) {
        const double of_one = resampled(one, aggregate, random);
        return of_one - resampled(other, aggregate, random);
      },
      draws_of(one.size() + other.size()), coverage);
}

double detectable_difference(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  const boost::math::students_t t(n - 1);
  const double deviation = std::sqrt(boost::math::statistics::sample_variance(differences));
  return (boost::math::quantile(t, 0.975) + boost::math::quantile(t, 0.8)) * deviation / std::sqrt(n);
}

double detectable_difference(const std::vector<double>& one, const std::vector<double>& other) {
  using boost::math::statistics::sample_variance;
  const auto n = static_cast<double>(one.size());
  const auto m = static_cast<double>(other.size());
  const double variance = ((n - 1) * sample_variance(one) + (m - 1) * sample_variance(other)) / (n + m - 2);
  const boost::math::students_t t(n + m - 2);
  return (boost::math::quantile(t, 0.975) + boost::math::quantile(t, 0.8)) *
         std::sqrt(variance * (1 / n + 1 / m));
}

double relabellings(std::size_t one, std::size_t other) {
  double ways = 1;
  for (std::size_t i = 1; i <= one; ++i) {
    ways *= static_cast<double>(other + i) / static_cast<double>(i);
  }
  return std::round(ways);
}

double relabelling_p(const std::vector<double>& one, const std::vector<double>& other, Aggregate aggregate) {
  std::vector<double> all = one;
  all.insert(all.end(), other.begin(), other.end());
  std::vector<std::uint8_t> is_of_one(all.size());
  std::fill_n(is_of_one.begin(), one.size(), std::uint8_t{1});
  const auto distance = [&] {
    std::vector<double> first;
    std::vector<double> second;
    for (std::size_t i = 0; i < all.size(); ++i) (is_of_one[i] != 0 ? first : second).push_back(all[i]);
    return std::abs(aggregate_of(std::move(first), aggregate) - aggregate_of(std::move(second), aggregate));
  };
  const double least = distance() - rounding_of(all);
  std::size_t as_far = 0;
  std::size_t ways = 0;
  const auto count = [&] {
    ++ways;
    as_far += distance() >= least ? 1U : 0U;
  };
  if (relabellings(one.size(), other.size()) <= static_cast<double>(kMaxDraws)) {
    do count();
    while (std::prev_permutation(is_of_one.begin(), is_of_one.end()));
  } else {
    count();
    RandomStream random(0, Purpose::kStatistics, kSplits);
    for (std::size_t drawn = 0; drawn < kMaxDraws; ++drawn) {
      shuffle(is_of_one, random);
      count();
    }
  }
  return static_cast<double>(as_far) / static_cast<double>(ways);
}

std::optional<double> least_sign_flip_p(std::size_t differences, Aggregate aggregate) {
  if (differences > kMaxExactPairs) return std::nullopt;
  std::vector<double> of_one_sign;
  for (std::size_t i = 0; i < differences; ++i) of_one_sign.push_back(std::exp2(static_cast<double>(i)));
  return sign_flip_p(of_one_sign, aggregate);
}

double least_relabelling_p(std::size_t one, std::size_t other, Aggregate aggregate) {
  if (relabellings(one, other) > static_cast<double>(kMaxDraws)) return 1.0 / (kMaxDraws + 1);
  double least = 1;
  // Where the groups differ in size, the gaps decide whether mirrored splits are as far.
  for (const double gap : {0.5, 2.0}) {
    std::vector<double> low(one);
    std::vector<double> high(other);
    for (std::size_t i = 0; i < one; ++i) low[i] = gap * static_cast<double>(i);
    std::iota(high.begin(), high.end(), 10.0 * static_cast<double>(one + other));
    least = std::min(least, relabelling_p(low, high, aggregate));
  }
  return least;
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

namespace {

// From 1, less their mean; equal values share the mean of their ranks. Multiples of a half, whose sums of
// products are exact.
std::vector<double> centred_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  const double mean = (static_cast<double>(values.size()) + 1) / 2;
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(first + 1 + end) / 2 - mean;
    }
    first = end;
  }
  return ranks;
}

double product(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

}  // namespace

std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> ranks = centred_ranks(x);
  const std::vector<double> others = centred_ranks(y);
  const double squares = product(ranks, ranks) * product(others, others);
  if (squares == 0) return std::nullopt;
  return product(ranks, others) / std::sqrt(squares);
}

double rank_correlation_p(const std::vector<RankedPair>& tasks) {
  std::vector<RankedPair> ranks;  // Scaled so that a product is a correlation.
  for (const RankedPair& task : tasks) {
    RankedPair& scaled = ranks.emplace_back(RankedPair{centred_ranks(task.x), centred_ranks(task.y)});
    const double scale = std::sqrt(product(scaled.x, scaled.x) * product(scaled.y, scaled.y));
    for (double& rank : scaled.x) rank /= scale;
  }
  std::vector<std::size_t> order(tasks.front().x.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto sum_of_correlations = [&] {
    double sum = 0;
    for (const RankedPair& task : ranks) {
      for (std::size_t i = 0; i < order.size(); ++i) sum += task.x[i] * task.y[order[i]];
    }
    return std::abs(sum);
  };
  // Orders that are as far on paper differ by rounding.
  const double observed = sum_of_correlations() - 1e-9;
  std::size_t as_far = 0;
  std::size_t orders = 0;
  const auto count = [&] {
    ++orders;
    as_far += sum_of_correlations() >= observed ? 1U : 0U;
  };
  if (order.size() <= kMaxExactOrders) {
    do count();
    while (std::ranges::next_permutation(order).found);
  } else {
    count();
    RandomStream random(0, Purpose::kStatistics, kOrders);
    for (std::size_t drawn = 0; drawn < kRandomOrders; ++drawn) {
      shuffle(order, random);
      count();
    }
  }
  return static_cast<double>(as_far) / static_cast<double>(orders);
}

}  // namespace che
