#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// A whole number in a config: -?(0|[1-9][0-9]*) and nothing else. Nothing for any other text, and
// for numbers beyond 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A finite decimal number in a config: 1, -0.5, 1e-3. Nothing for any other text.
std::optional<double> parse_real(std::string_view text);

// The shortest text that parse_real reads back to `value`.
std::string real_text(double value);

// Takes `prefix` off `text`; false where there is none.
bool take_prefix(std::string_view& text, std::string_view prefix);

// The limits of a field as errors and help texts state them.
std::string allowed_integers(std::int64_t min, std::int64_t max);
std::string allowed_reals(double min, double max);

// first, first + step, ... up to last, which is included where a step meets it.
struct IntegerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;

  // Its numbers; nothing when there are more than `limit`.
  std::optional<std::vector<std::int64_t>> values(std::int64_t limit) const;
};

// The forms that parse_integer_range reads, for error messages.
inline constexpr std::string_view kIntegerRangeForms =
    "first:last or first:last:step, from the lower to the higher, in steps of 1 or more";

// "first:last" or "first:last:step" with 0 <= first <= last and a positive step. Nothing for any other
// text.
std::optional<IntegerRange> parse_integer_range(std::string_view text);

// Reads such a range, or one number from 0, which is a range of one.
std::optional<IntegerRange> parse_number_or_range(std::string_view text);

}  // namespace che
