#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace che {

// Spearman's rank correlation of x and y (equally many), ties with the mean of their ranks. Nothing where
// there are fewer than two values or one side is all ties.
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

// Up to so many encodings joint_rank_correlation_p looks at every order.
inline constexpr std::size_t kMaxExactOrders = 8;

// Two-sided p-value of the mean of spearman(x, y) over tasks, each of which must exist, under the hypothesis
// that every order of the encodings is as likely: one order, the same in every task, permutes y. Tasks whose
// rankings resemble each other count little more than one. Every order up to kMaxExactOrders encodings, else
// kRandomOrders random ones and the observed one. The same values always give the same p.
double joint_rank_correlation_p(const std::vector<RankedPair>& tasks);

}  // namespace che
