#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// The largest group that a task may have.
inline constexpr std::size_t kMaxGroupOrder = 1'000;

// A finite group by its product. Element 0 is the identity.
struct FiniteGroup {
  std::vector<std::string> elements;                               // Their names.
  std::function<std::size_t(std::size_t, std::size_t)> product{};  // The first times the second.

  std::size_t order() const { return elements.size(); }
};

// The group of a name:
//   S3      permutations of 1 2 3; elements are the images in order, 213 swaps the first two
//   A5      even permutations, written likewise
//   Z5      whole numbers modulo 5: 0 1 2 3 4
//   D4      the 8 symmetries of a square: rotations r0 .. r3, then reflections s0 .. s3, where sk is rk after
//   s0 Q8      quaternions: 1 -1 i -i j -j k -k A4xZ5   products, also written "A4 x Z5"; elements are joined
//   by commas: 2143,3
// The product of two permutations or symmetries applies the first of them first. Throws Error (usage) for any
// other name, and for more than kMaxGroupOrder elements.
FiniteGroup find_group(std::string_view name);

// The name without spaces: "A4xZ5".
std::string group_name(std::string_view name);

}  // namespace che
