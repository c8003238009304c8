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

// Is told of each part of a text, builds nothing, and throws Error for what is not allowed. The parser's
// callback would not do: it walks an object's siblings at the object's end.
class JsonCheck final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonCheck(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  bool null() override { return take_value(); }
  bool boolean(bool /*value*/) override { return take_value(); }
  bool number_integer(number_integer_t /*value*/) override { return take_value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return take_value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*digits*/) override { return take_value(); }
  bool string(string_t& /*value*/) override { return take_value(); }
  bool binary(binary_t& /*value*/) override { return take_value(); }

  bool start_object(std::size_t /*elements*/) override { return open(); }
  bool start_array(std::size_t /*elements*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    throw Error(fmt::format("an object has the key '{}' twice; allowed: each key once", one_line(name)));
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    if (const auto* syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
      throw Error(syntax_problem(text_, syntax->byte));
    }
    throw Error("not JSON that can be read: it has a number beyond the range of a double");
  }

 private:
  bool take_value() {
    if (++values_ > limits_.values) throw Error(fmt::format("has more than {} values", limits_.values));
    return true;
  }

  bool open() {
    if (keys_.size() >= limits_.depth) throw Error(fmt::format("nested more than {} deep", limits_.depth));
    keys_.emplace_back();
    return take_value();
  }

  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // Those of the objects and arrays around what is read.
};

}  // namespace

nlohmann::json parse_bounded_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) throw Error(fmt::format("has more than {} bytes", limits.bytes));
  JsonCheck check(text, limits);
  nlohmann::json::sax_parse(text, &check);
  return nlohmann::json::parse(text);
}

}  // namespace che
