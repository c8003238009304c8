#include "core/integer_range.h"

#include "core/number_text.h"

namespace che {

std::optional<std::vector<std::int64_t>> IntegerRange::values(std::int64_t limit) const {
  // One less than there are: the number itself may overflow.
  const std::int64_t steps = (last - first) / step;
  if (steps >= limit) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i <= steps; ++i) values.push_back(first + i * step);
  return values;
}

std::optional<IntegerRange> parse_integer_range(std::string_view text) {
  const auto take = [&]() -> std::optional<std::int64_t> {
    const std::size_t colon = text.find(':');
    const auto number = parse_integer(text.substr(0, colon));
    text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
    return number;
  };
  if (text.find(':') == std::string_view::npos || text.ends_with(':')) return std::nullopt;
  const auto first = take();
  const auto last = take();
  const auto step = text.empty() ? std::optional<std::int64_t>(1) : take();
  if (!first || !last || !step || !text.empty() || *first < 0 || *first > *last || *step < 1) {
    return std::nullopt;
  }
  return IntegerRange{*first, *last, *step};
}

std::optional<IntegerRange> parse_number_or_range(std::string_view text) {
  const std::optional<std::int64_t> one = parse_integer(text);
  return one && *one >= 0 ? IntegerRange{*one, *one, 1} : parse_integer_range(text);
}

}  // namespace che
