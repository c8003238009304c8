#include "experiments/store/bounded_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/config/node.h"
#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

// What is wrong at the character `byte` of a text, from 1, behind whose end the parser may stand.
std::string syntax_problem(std::string_view text, std::size_t byte) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "not JSON: it is empty";
  if (byte == 0 || byte > text.size()) {
    return "not JSON: it ends before its last value is complete; is a part of it missing?";
  }
  constexpr std::size_t kShown = 20;
  const std::string_view before = text.substr(0, byte - 1);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t start = before.rfind('\n') + 1;  // Of the line; npos + 1 is 0.
  const std::string place = lines == 0 ? fmt::format("column {}", byte)
                                       : fmt::format("line {}, column {}", lines + 1, byte - start);
  if (before.empty()) {
    const std::size_t bytes = std::max<std::size_t>(1, utf8_character_bytes(text));
    return fmt::format("not JSON: it begins with '{}'", one_line(text.substr(0, bytes)));
  }
  return fmt::format("not JSON: cannot be read from {} on, behind '{}'", place,
                     one_line(before.substr(before.size() - std::min(before.size(), kShown))));
}

}  // namespace

nlohmann::ordered_json parse_bounded_json(std::string_view text, std::size_t max_depth) {
  using Json = nlohmann::ordered_json;
  bool too_deep = false;
  // The parser calls this at every value, with the number of arrays and objects around it; what it refuses is
  // not stored.
  const Json::parser_callback_t keep = [&](int depth, Json::parse_event_t event, Json&) {
    const bool begins =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    too_deep = too_deep || (begins && std::cmp_greater_equal(depth, max_depth));
    return !too_deep;
  };
  Json json;
  std::string problem;
  try {
    json = Json::parse(text, keep);
  } catch (const Json::parse_error& error) {
    problem = syntax_problem(text, error.byte);
  } catch (const Json::exception&) {
    problem = "not JSON that can be read: it has a number beyond the range of a double";
  }
  if (too_deep) problem = fmt::format("nested more than {} deep", max_depth);
  if (!problem.empty()) throw Error(problem);
  return json;
}

}  // namespace che
