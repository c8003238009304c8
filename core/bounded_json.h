#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace che {

// How large a text of JSON may be. A parsed value takes up to 64 bytes where its text takes two.
struct JsonLimits {
  std::size_t depth = 0;   // How deep arrays and objects may be nested.
  std::size_t bytes = 0;   // The length of the text.
  std::size_t values = 0;  // The number of values, arrays and objects included.
};

// Reads `text` as JSON within these limits, whose objects have each key once. A text beyond them is refused
// before it takes memory. Throws Error (usage) that says what is wrong, in one line and without the file's
// name.
nlohmann::json parse_bounded_json(std::string_view text, const JsonLimits& limits);

}  // namespace che
