#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace che {

// first, first + step, ... up to last, which is included where a step meets it.
struct IntegerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;

  // Its numbers; nothing when there are more than `limit`.
  std::optional<std::vector<std::int64_t>> values(std::int64_t limit) const;
};

// What parse_integer_range reads, for error messages.
inline constexpr std::string_view kIntegerRangeForms =
    "first:last or first:last:step, from the lower to the higher, in steps of 1 or more";

// "first:last" or "first:last:step" with 0 <= first <= last and a positive step. Nothing for any other
// text.
std::optional<IntegerRange> parse_integer_range(std::string_view text);

// The same, or one number from 0, which is a range of one.
std::optional<IntegerRange> parse_number_or_range(std::string_view text);

}  // namespace che
