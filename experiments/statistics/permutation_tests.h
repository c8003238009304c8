#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/statistics/score_summary.h"

namespace che {

// A permutation test looks at every assignment of signs up to this number of pairs, and at kMaxDraws
// random ones beyond it.
inline constexpr std::size_t kMaxExactPairs = 20;
inline constexpr std::size_t kMaxDraws = 100'000;

// Returns how many random assignments or resamples of so many differences are drawn: kMaxDraws up to
// kMaxFullyDrawn differences, and kDrawnValues / differences beyond, at least 1,000.
inline constexpr std::size_t kDrawnValues = std::size_t{1} << 30;
inline constexpr std::size_t kMaxFullyDrawn = kDrawnValues / kMaxDraws;
std::size_t draws_of(std::size_t differences);

// Returns the two-sided p-value of paired differences under the hypothesis that each is as likely to have the
// other sign (Fisher's permutation test). Its statistic is `aggregate` of the differences. The p-value is the
// share of the 2^n assignments of signs whose statistic is as far from zero as the observed one. It cannot
// fall below 2 / 2^n, and not to it where the aggregate leaves some differences out. Equal differences always
// give the same p. There must be one difference or more.
double sign_flip_p(const std::vector<double>& differences, Aggregate aggregate);

// Returns the two-sided p-value of two groups of independent values under the hypothesis that both have one
// distribution (Fisher's permutation test). Its statistic is `aggregate` of `one` minus that of `other`. The
// p-value is the share of all splits of the values into groups of these sizes whose statistic is as far from
// zero as the observed one. Four against four give 2 / 70 at least. Where there are more than
// kMaxDraws splits, it looks at as many random ones. Equal values always give the same p. Each group
// must have one value or more.
double relabelling_p(const std::vector<double>& one, const std::vector<double>& other, Aggregate aggregate);

// Return the least p that these tests can have with so many values, whatever the values; of more than
// kMaxExactPairs differences nothing. An aggregate that leaves some values out has more assignments with the
// same statistic than the mean.
std::optional<double> least_sign_flip_p(std::size_t differences, Aggregate aggregate);
double least_relabelling_p(std::size_t one, std::size_t other, Aggregate aggregate);

// Returns in how many ways values can be split into groups of these sizes, or infinity beyond a double's
// range.
double relabellings(std::size_t one, std::size_t other);

struct Interval {
  double low;
  double high;
};

// An interval of fewer differences cannot be honest at 95 %. Even the widest that resamples can give, from
// the least difference to the greatest, covers the median only with probability 1 - 2 / 2^n.
inline constexpr std::size_t kMinIntervalPairs = 6;

// Says how often, in percent, a nominal 95 % interval covers the mean of normal differences, by number of
// pairs.
struct IntervalCoverage {
  std::size_t pairs;
  int percent;
};
inline constexpr std::array<IntervalCoverage, 3> kIntervalCoverage = {{{6, 86}, {10, 90}, {20, 93}}};

// Returns the percentile interval of `aggregate` over resamples of the differences with replacement. Equal
// differences always give the same interval.
Interval bootstrap_interval(const std::vector<double>& differences, Aggregate aggregate,
                            double coverage = 0.95);

// Returns that of `aggregate` of `one` minus `aggregate` of `other`, both resampled.
Interval bootstrap_interval(const std::vector<double>& one, const std::vector<double>& other,
                            Aggregate aggregate, double coverage = 0.95);

// Returns the least true mean of paired differences that a two-sided t-test at 5 % finds with probability 80
// % in as many pairs with this spread. It is (t_{.975, n-1} + t_{.8, n-1}) sd / sqrt(n), the usual
// approximation of the power of the t-test (Cohen, Statistical Power Analysis for the Behavioral Sciences,
// 1988, chapter 2). There must be two differences or more.
double detectable_difference(const std::vector<double>& differences);

// Returns the least true difference of the means of two groups likewise. With their pooled standard deviation
// s it is (t_{.975, n+m-2} + t_{.8, n+m-2}) s sqrt(1/n + 1/m). Each must have two values or more.
double detectable_difference(const std::vector<double>& one, const std::vector<double>& other);

// Adjusts the p-values that are present by Holm's step-down method (1979) and keeps their order.
std::vector<std::optional<double>> holm_adjusted(const std::vector<std::optional<double>>& p_values);

// Returns Spearman's rank correlation of x and y, which are equally many. Ties have the mean of their ranks.
// Returns nothing if there are fewer than two values or one side is all ties.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y);

// Holds the ranked values of one task. x and y have the same encodings in the same order.
struct RankedPair {
  std::vector<double> x;
  std::vector<double> y;
};

// rank_correlation_p looks at every order up to this number of encodings, and at so many random ones above.
inline constexpr std::size_t kMaxExactOrders = 8;
inline constexpr std::size_t kRandomOrders = 100'000;

// Returns the two-sided p-value of the mean of spearman(x, y) over tasks, each of which must exist, under the
// hypothesis that every order of the encodings is as likely. One order permutes y, the same in every task, so
// that tasks whose rankings resemble each other count little more than one. It takes every order of up to
// kMaxExactOrders encodings, else kRandomOrders random ones and the observed one. Equal values always give
// the same p.
double rank_correlation_p(const std::vector<RankedPair>& tasks);

}  // namespace che
