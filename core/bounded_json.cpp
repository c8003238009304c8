#include "core/bounded_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

// Says what is wrong at the character `byte` of a text, from 1, behind whose end the parser may stand.
std::string syntax_problem(std::string_view text, std::size_t byte) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "not JSON: it is empty";
  if (byte == 0 || byte > text.size()) {
    return "not JSON: it ends before its last value is complete; is a part of it missing?";
  }
  constexpr std::size_t kShown = 20;
  const std::string_view before = text.substr(0, byte - 1);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t start = before.rfind('\n') + 1;  // The line's first byte; npos + 1 is 0.
  const std::string place = lines == 0 ? fmt::format("column {}", byte)
                                       : fmt::format("line {}, column {}", lines + 1, byte - start);
  if (before.empty()) {
    const std::size_t bytes = std::max<std::size_t>(1, utf8_character_bytes(text));
    return fmt::format("not JSON: it begins with '{}'", one_line(text.substr(0, bytes)));
  }
  return fmt::format("not JSON: cannot be read from {} on, behind '{}'", place,
                     one_line(before.substr(before.size() - std::min(before.size(), kShown))));
}

bool is_deeper(std::string_view text, std::size_t max_depth) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_in_string = !is_in_string;
    if (is_in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

// In an ordered_json each key is sought among all before it.
static_assert(std::is_same_v<nlohmann::json::object_t::key_compare, std::less<>>, "objects are sorted maps");

nlohmann::json parse_bounded_json(std::string_view text, std::size_t max_depth) {
  if (is_deeper(text, max_depth)) throw Error(fmt::format("nested more than {} deep", max_depth));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(syntax_problem(text, error.byte));
  } catch (const nlohmann::json::exception&) {
    throw Error("not JSON that can be read: it has a number beyond the range of a double");
  }
}

}  // namespace che
