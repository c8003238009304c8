#include "tests/tasks/chi_square.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <numeric>

namespace che {
namespace {

// Draws of both samples in a cell, below which the chi-square approximation is poor.
constexpr std::int64_t kFewDraws = 20;

double p_value(double statistic, std::size_t cells) {
  if (cells < 2) return 1;
  const boost::math::chi_squared distribution(static_cast<double>(cells - 1));
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

double total(const Histogram& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

}  // namespace

double homogeneity_p_value(Histogram a, Histogram b) {
  const std::size_t size = std::max(a.size(), b.size());
  a.resize(size, 0);
  b.resize(size, 0);
  Histogram joined_a;
  Histogram joined_b;
  bool cell_is_open = false;
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] + b[i] == 0) continue;
    if (!cell_is_open) {
      joined_a.push_back(0);
      joined_b.push_back(0);
    }
    joined_a.back() += a[i];
    joined_b.back() += b[i];
    cell_is_open = joined_a.back() + joined_b.back() < kFewDraws;
  }
  if (cell_is_open && joined_a.size() > 1) {
    const std::size_t before = joined_a.size() - 2;
    joined_a[before] += joined_a.back();
    joined_b[before] += joined_b.back();
    joined_a.pop_back();
    joined_b.pop_back();
  }
  const double ratio = std::sqrt(total(b) / total(a));
  double statistic = 0;
  for (std::size_t i = 0; i < joined_a.size(); ++i) {
    const auto count_a = static_cast<double>(joined_a[i]);
    const auto count_b = static_cast<double>(joined_b[i]);
    const double difference = ratio * count_a - count_b / ratio;
    statistic += difference * difference / (count_a + count_b);
  }
  return p_value(statistic, joined_a.size());
}

double uniformity_p_value(const Histogram& counts, std::int64_t different) {
  const double expected = total(counts) / static_cast<double>(counts.size());
  double statistic = 0;
  for (const std::int64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    statistic += difference * difference / expected;
  }
  const auto cells = static_cast<double>(counts.size());
  return p_value(statistic * (cells - 1) / (cells - static_cast<double>(different)), counts.size());
}

}  // namespace che
