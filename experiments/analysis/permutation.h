#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/analysis/score_summary.h"

namespace che {

// Up to so many pairs a permutation test looks at every assignment of signs; beyond, at
// kRandomAssignments random ones.
inline constexpr std::size_t kMaxExactPairs = 20;
inline constexpr std::size_t kRandomAssignments = 100'000;

// Two-sided p-value of paired differences under the hypothesis that each is as likely to have the
// other sign (Fisher's permutation test; `aggregate` of the differences is its statistic): the share
// of the 2^n assignments of signs whose statistic is as far from zero as the observed one. It cannot
// fall below 2 / 2^n. The same differences always give the same p. One difference or more.
double sign_flip_p(const std::vector<double>& differences, Aggregate aggregate);

struct Interval {
  double low;
  double high;
};

inline constexpr std::size_t kBootstrapResamples = 100'000;
// No interval of fewer differences is honest at 95 %: even the widest that resamples can give, from the
// least to the greatest, covers the median only with probability 1 - 2 / 2^n.
inline constexpr std::size_t kMinIntervalPairs = 6;

// Of how many pairs an interval of 95 % covers the mean of normal differences how often, in percent.
struct IntervalCoverage {
  std::size_t pairs;
  int percent;
};
inline constexpr std::array<IntervalCoverage, 3> kIntervalCoverage = {{{6, 86}, {10, 90}, {20, 93}}};

// Percentile interval of `aggregate` over resamples of the differences with replacement. The same
// differences always give the same interval.
Interval bootstrap_interval(const std::vector<double>& differences, Aggregate aggregate,
                            double coverage = 0.95);

// The least true mean of paired differences that a two-sided t-test at 5 % finds with probability 80 % in as
// many pairs with this spread: (t_{.975, n-1} + t_{.8, n-1}) sd / sqrt(n), the usual approximation of the
// power of the t-test (Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2). Two
// differences or more.
double detectable_difference(const std::vector<double>& differences);

// Holm's step-down adjustment (1979): each p-value as it stands among all that there are, in their order.
std::vector<std::optional<double>> holm_adjusted(const std::vector<std::optional<double>>& p_values);

}  // namespace che
