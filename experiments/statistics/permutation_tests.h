#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/statistics/score_summary.h"

namespace che {

// A permutation test looks at every assignment of signs up to this number of pairs, and at kRandomAssignments
// random ones beyond it.
inline constexpr std::size_t kMaxExactPairs = 20;
inline constexpr std::size_t kRandomAssignments = 100'000;

// Two-sided p-value of paired differences under the hypothesis that each is as likely to have the
// other sign (Fisher's permutation test; `aggregate` of the differences is its statistic): the share
// of the 2^n assignments of signs whose statistic is as far from zero as the observed one. It cannot
// fall below 2 / 2^n. The same differences always give the same p. One difference or more.
double sign_flip_p(const std::vector<double>& differences, Aggregate aggregate);

// Two-sided p-value of two groups of independent values under the hypothesis that both have one distribution
// (Fisher's permutation test; the statistic is the `aggregate` of `one` minus that of `other`): the share of
// all ways of splitting the values into groups of these sizes whose statistic is as far from zero as the
// observed one. Four against four give 2 / 70 at least. Beyond kRandomAssignments ways as many random ones
// are looked at. The same values always give the same p. One value or more in each group.
double relabelling_p(const std::vector<double>& one, const std::vector<double>& other, Aggregate aggregate);

// Returns in how many ways values can be split into groups of these sizes, or infinity beyond a double's
// range.
double relabellings(std::size_t one, std::size_t other);

struct Interval {
  double low;
  double high;
};

inline constexpr std::size_t kBootstrapResamples = 100'000;
// An interval of fewer differences cannot be honest at 95 %: even the widest that resamples can give, from
// the least to the greatest, covers the median only with probability 1 - 2 / 2^n.
inline constexpr std::size_t kMinIntervalPairs = 6;

// Actual coverage (percent) of a nominal 95 % interval for the mean of normal differences, by number of
// pairs.
struct IntervalCoverage {
  std::size_t pairs;
  int percent;
};
inline constexpr std::array<IntervalCoverage, 3> kIntervalCoverage = {{{6, 86}, {10, 90}, {20, 93}}};

// Percentile interval of `aggregate` over resamples of the differences with replacement. The same
// differences always give the same interval.
Interval bootstrap_interval(const std::vector<double>& differences, Aggregate aggregate,
                            double coverage = 0.95);

// Likewise of `aggregate` of `one` minus that of `other`, both resampled.
Interval bootstrap_interval(const std::vector<double>& one, const std::vector<double>& other,
                            Aggregate aggregate, double coverage = 0.95);

// The least true mean of paired differences that a two-sided t-test at 5 % finds with probability 80 % in as
// many pairs with this spread: (t_{.975, n-1} + t_{.8, n-1}) sd / sqrt(n), the usual approximation of the
// power of the t-test (Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2). Two
// differences or more.
double detectable_difference(const std::vector<double>& differences);

// Likewise the least true difference of the means of two groups with their pooled standard deviation s:
// (t_{.975, n+m-2} + t_{.8, n+m-2}) s sqrt(1/n + 1/m). Two values or more in each.
double detectable_difference(const std::vector<double>& one, const std::vector<double>& other);

// Adjusts the p-values that are present by Holm's step-down method (1979) and keeps their order.
std::vector<std::optional<double>> holm_adjusted(const std::vector<std::optional<double>>& p_values);

// Returns Spearman's rank correlation of x and y, which are equally many. Ties have the mean of their ranks.
// Returns nothing if there are fewer than two values or one side is all ties.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y);

inline constexpr std::size_t kRandomOrders = 100'000;

// Two-sided p-value of spearman(x, y), which must exist, under the hypothesis that every order of y is as
// likely: the share of kRandomOrders random ones, and the observed one, whose correlation is as far from
// zero. The same values always give the same p.
double rank_correlation_p(const std::vector<double>& x, const std::vector<double>& y);

// Ranked values of one task: x and y of the same encodings in the same order.
struct RankedPair {
  std::vector<double> x;
  std::vector<double> y;
};

// joint_rank_correlation_p looks at every order up to this number of encodings.
inline constexpr std::size_t kMaxExactOrders = 8;

// Two-sided p-value of the mean of spearman(x, y) over tasks, each of which must exist, under the hypothesis
// that every order of the encodings is as likely: one order, the same in every task, permutes y. Tasks whose
// rankings resemble each other count little more than one. Every order up to kMaxExactOrders encodings, else
// kRandomOrders random ones and the observed one. The same values always give the same p.
double joint_rank_correlation_p(const std::vector<RankedPair>& tasks);

}  // namespace che
