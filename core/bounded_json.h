#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace che {

// Reads `text` as JSON whose arrays and objects are nested at most `max_depth` deep, in time and memory that
// grow linearly with the text. Throws Error (usage) that says what is wrong, in one line and without the
// file's name.
nlohmann::json parse_bounded_json(std::string_view text, std::size_t max_depth);

}  // namespace che
