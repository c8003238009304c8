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

// Throws Error for what is not allowed in a text. (nlohmann's callbacks while it builds a value would walk
// through an object's siblings at its end, which takes quadratic time.)
class JsonCheck : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonCheck(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(std::int64_t) override { return count(); }
  bool number_unsigned(std::uint64_t) override { return count(); }
  bool number_float(double, const std::string&) override { return count(); }
  bool string(std::string&) override { return count(); }
  bool binary(nlohmann::json::binary_t&) override { return count(); }
  bool start_array(std::size_t) override { return open(); }
  bool start_object(std::size_t) override {
    open();
    keys_.emplace_back();
    return true;
  }
  bool key(std::string& key) override {
    if (keys_.back().insert(key).second) return true;
    throw Error(fmt::format("an object has the key '{}' twice; allowed: each key once", one_line(key)));
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return end_array();
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) override {
    if (dynamic_cast<const nlohmann::json::parse_error*>(&error)) throw Error(syntax_problem(text_, byte));
    throw Error("not JSON that can be read: it has a number beyond the range of a double");
  }

 private:
  bool count() {
    if (++values_ > limits_.values) throw Error(fmt::format("has more than {} values", limits_.values));
    return true;
  }
  bool open() {
    if (++depth_ > limits_.depth) throw Error(fmt::format("nested more than {} deep", limits_.depth));
    return count();
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // Those of the objects around what is read.
};

}  // namespace

nlohmann::json parse_bounded_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) throw Error(fmt::format("has more than {} bytes", limits.bytes));
  JsonCheck check(text, limits);
  nlohmann::json::sax_parse(text, &check);
  return nlohmann::json::parse(text);
}

}  // namespace che
