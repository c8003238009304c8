#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// What an error or a help text says of a field's limits.
std::string allowed_integers(std::int64_t min, std::int64_t max);
std::string allowed_reals(double min, double max);

}  // namespace che
