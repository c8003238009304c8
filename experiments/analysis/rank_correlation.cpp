#include "experiments/analysis/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace che {
namespace {

constexpr std::uint64_t kOrders = 2;  // paired_test.cpp has the other streams of this purpose.

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

double rank_correlation_p(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> ranks = centred_ranks(x);
  std::vector<double> others = centred_ranks(y);
  const double observed = std::abs(product(ranks, others));  // The squares are those of every order.
  RandomStream random(0, Purpose::kStatistics, kOrders);
  std::size_t as_far = 1;
  for (std::size_t order = 0; order < kRandomOrders; ++order) {
    for (std::size_t i = others.size(); i > 1; --i) std::swap(others[i - 1], others[random.below(i)]);
    as_far += std::abs(product(ranks, others)) >= observed ? 1U : 0U;
  }
  return static_cast<double>(as_far) / static_cast<double>(kRandomOrders + 1);
}

}  // namespace che
