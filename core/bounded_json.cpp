#include "core/bounded_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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

// Is told of each part of a text while it is parsed, and throws Error for what is not allowed.
class JsonWatch {
 public:
  explicit JsonWatch(const JsonLimits& limits) : limits_(limits) {}

  void take(std::size_t depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    switch (event) {
      case Event::object_start:
        keys_.emplace_back();
        [[fallthrough]];
      case Event::array_start:
        if (depth >= limits_.depth) throw Error(fmt::format("nested more than {} deep", limits_.depth));
        [[fallthrough]];
      case Event::value:
        if (++values_ > limits_.values) throw Error(fmt::format("has more than {} values", limits_.values));
        break;
      case Event::key:
        if (!keys_.back().insert(parsed.get<std::string>()).second) {
          throw Error(fmt::format("an object has the key '{}' twice; allowed: each key once",
                                  one_line(parsed.get<std::string>())));
        }
        break;
      case Event::object_end:
        keys_.pop_back();
        break;
      case Event::array_end:
        break;
    }
  }

 private:
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // Those of the objects around what is read.
};

}  // namespace

nlohmann::json parse_bounded_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) throw Error(fmt::format("has more than {} bytes", limits.bytes));
  JsonWatch watch(limits);
  try {
    return nlohmann::json::parse(
        text, [&](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
          watch.take(static_cast<std::size_t>(depth), event, parsed);
          return true;
        });
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(syntax_problem(text, error.byte));
  } catch (const nlohmann::json::exception&) {
    throw Error("not JSON that can be read: it has a number beyond the range of a double");
  }
}

}  // namespace che
