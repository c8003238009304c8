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

}  // namespace che
