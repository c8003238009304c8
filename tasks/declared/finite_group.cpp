#include "tasks/declared/finite_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/number_text.h"
#include "core/text.h"

namespace che {
namespace {

// Digits name the points of permutations.
constexpr std::int64_t kMaxPoints = 9;
constexpr std::ptrdiff_t kMaxFactors = 4;
constexpr std::string_view kAllowed =
    "allowed: S1 to S6, A1 to A6, Z1, Z2, ..., D3, D4, ..., Q8, and products such as A4xZ5";

using Permutation = std::string;  // The images of 1, 2, ... as digits.

bool is_even(const Permutation& permutation) {
  bool even = true;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    for (std::size_t j = i + 1; j < permutation.size(); ++j) even ^= permutation[i] > permutation[j];
  }
  return even;
}

FiniteGroup permutations(std::size_t points, bool only_even) {
  Permutation permutation(points, '1');
  std::iota(permutation.begin(), permutation.end(), '1');
  std::vector<std::string> elements;
  std::map<Permutation, std::size_t> index;
  do {
    if (only_even && !is_even(permutation)) continue;
    index.emplace(permutation, elements.size());
    elements.push_back(permutation);
  } while (std::ranges::next_permutation(permutation).found);
  const auto product = [all = elements, index](std::size_t first, std::size_t second) {
    Permutation result(all[0].size(), '1');
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = all[second][static_cast<std::size_t>(all[first][i] - '1')];
    }
    return index.at(result);
  };
  return {.elements = std::move(elements), .product = product};
}

FiniteGroup cyclic(std::size_t order) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < order; ++i) elements.push_back(std::to_string(i));
  return {.elements = std::move(elements),
          .product = [order](std::size_t first, std::size_t second) { return (first + second) % order; }};
}

// Element k is the rotation by k corners, n + k the reflection that sends corner i to k - i.
FiniteGroup dihedral(std::size_t n) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < 2 * n; ++i) elements.push_back(fmt::format("{}{}", i < n ? 'r' : 's', i % n));
  const auto product = [n](std::size_t first, std::size_t second) {
    const bool mirrors = second >= n;
    const std::size_t turn = mirrors ? second % n + n - first % n : second % n + first % n;
    return turn % n + ((first >= n) != mirrors ? n : 0);
  };
  return {.elements = std::move(elements), .product = product};
}

// Element 2u + s is (-1)^s times unit u of 1, i, j, k.
FiniteGroup quaternions() {
  static constexpr std::array<std::array<std::size_t, 4>, 4> kUnit = {
      {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}}};
  // Where the product of two units is negative: i i = j j = k k = -1, j i = -k, k j = -i, i k = -j.
  static constexpr std::array<std::array<std::size_t, 4>, 4> kSign = {
      {{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 1, 0}, {0, 0, 1, 1}}};
  const auto product = [](std::size_t first, std::size_t second) {
    const std::size_t sign = (first + second + kSign[first / 2][second / 2]) % 2;
    return 2 * kUnit[first / 2][second / 2] + sign;
  };
  return {.elements = {"1", "-1", "i", "-i", "j", "-j", "k", "-k"}, .product = product};
}

FiniteGroup direct_product(const FiniteGroup& one, const FiniteGroup& other) {
  std::vector<std::string> elements;
  for (const std::string& first : one.elements) {
    for (const std::string& second : other.elements) elements.push_back(fmt::format("{},{}", first, second));
  }
  const auto product = [one = one.product, other = other.product, order = other.order()](std::size_t first,
                                                                                         std::size_t second) {
    return one(first / order, second / order) * order + other(first % order, second % order);
  };
  return {.elements = std::move(elements), .product = product};
}

// The order of the group with this family and size; nothing where there is none.
std::optional<std::int64_t> order_of(char family, std::int64_t size) {
  const auto factorial = [](std::int64_t n) {
    std::int64_t result = 1;
    for (std::int64_t i = 2; i <= n; ++i) result *= i;
    return result;
  };
  switch (family) {
    case 'S':
      return size <= kMaxPoints ? std::optional(factorial(size)) : std::nullopt;
    case 'A':
      return size <= kMaxPoints ? std::optional(std::max<std::int64_t>(1, factorial(size) / 2))
                                : std::nullopt;
    case 'Z':
      return size;
    case 'D':
      return size >= 3 ? std::optional(2 * size) : std::nullopt;
    case 'Q':
      return size == 8 ? std::optional<std::int64_t>(8) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// A factor of a product that has room for `room` times as many elements.
FiniteGroup simple_group(std::string_view factor, std::string_view name, std::size_t room) {
  const auto size = factor.size() < 2 ? std::nullopt : parse_integer(factor.substr(1));
  const auto order = size && *size >= 1 && *size <= 1'000'000 ? order_of(factor[0], *size) : std::nullopt;
  if (!order) throw Error(fmt::format("unknown group '{}'; {}", one_line(name), kAllowed));
  if (static_cast<std::size_t>(*order) > room) {
    throw Error(
        fmt::format("group '{}' has more than {} elements; {}", one_line(name), kMaxGroupOrder, kAllowed));
  }
  const auto count = static_cast<std::size_t>(*size);
  switch (factor[0]) {
    case 'S':
      return permutations(count, false);
    case 'A':
      return permutations(count, true);
    case 'Z':
      return cyclic(count);
    case 'D':
      return dihedral(count);
    default:
      return quaternions();
  }
}

}  // namespace

std::string group_name(std::string_view name) {
  std::string result(name);
  std::erase(result, ' ');
  return result;
}

FiniteGroup find_group(std::string_view name) {
  const std::string compact = group_name(name);
  std::string_view rest = compact;
  if (std::ranges::count(compact, 'x') >= kMaxFactors) {
    throw Error(
        fmt::format("group '{}' has more than {} factors; {}", one_line(name), kMaxFactors, kAllowed));
  }
  std::optional<FiniteGroup> group;
  while (true) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    FiniteGroup factor =
        simple_group(rest.substr(0, end), name, kMaxGroupOrder / (group ? group->order() : 1));
    group = group ? direct_product(*group, factor) : std::move(factor);
    if (end == rest.size()) return *std::move(group);
    rest.remove_prefix(end + 1);
  }
}

}  // namespace che
