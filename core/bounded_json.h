#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace che {

// How large a text of JSON may be. A parsed value takes up to 64 bytes where its text takes two.
struct JsonLimits {
  std::size_t depth = 0;   // Of arrays and objects that are nested in each other.
  std::size_t bytes = 0;   // Of the text.
  std::size_t values = 0;  // Arrays and objects count, and each value in them.
};

// Reads `text` as JSON within these limits, whose objects have each key once. What is beyond them is refused
// before it takes memory. Throws Error (usage) that says what is wrong, in one line and without the file's
// name.
nlohmann::json parse_bounded_json(std::string_view text, const JsonLimits& limits);

}  // namespace che
