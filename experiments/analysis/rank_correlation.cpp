#include "experiments/analysis/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace che {
namespace {

// permutation.cpp has the other streams of this purpose.
constexpr std::uint64_t kOrders = 2;
constexpr std::uint64_t kJointOrders = 3;

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

template <class Value>
void shuffle(std::vector<Value>& values, RandomStream& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
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

double rank_correlation_p(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> ranks = centred_ranks(x);
  std::vector<double> others = centred_ranks(y);
  const double observed = std::abs(product(ranks, others));  // The squares are those of every order.
  RandomStream random(0, Purpose::kStatistics, kOrders);
  std::size_t as_far = 1;
  for (std::size_t order = 0; order < kRandomOrders; ++order) {
    shuffle(others, random);
    as_far += std::abs(product(ranks, others)) >= observed ? 1U : 0U;
  }
  return static_cast<double>(as_far) / static_cast<double>(kRandomOrders + 1);
}

double joint_rank_correlation_p(const std::vector<RankedPair>& tasks) {
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
    RandomStream random(0, Purpose::kStatistics, kJointOrders);
    for (std::size_t drawn = 0; drawn < kRandomOrders; ++drawn) {
      shuffle(order, random);
      count();
    }
  }
  return static_cast<double>(as_far) / static_cast<double>(orders);
}

}  // namespace che
