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

}  // namespace che
