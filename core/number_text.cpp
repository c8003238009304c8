#include "core/number_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace che {
namespace {

// std::from_chars over the whole of `text`; leading zeros are refused, because other readers of YAML
// take them for octal numbers.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return std::nullopt;
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_number<std::int64_t>(text); }

std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::string real_text(double value) { return fmt::format("{}", value); }

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string allowed_integers(std::int64_t min, std::int64_t max) {
  return fmt::format("whole numbers from {} to {}", min, max);
}

std::string allowed_reals(double min, double max) { return fmt::format("numbers from {} to {}", min, max); }

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
