#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace che {

// `text` as JSON whose arrays and objects lie at most `max_depth` deep in each other: a file of brackets only
// must not cost more than it holds. Throws Error (usage) that says what is wrong, in one line and without the
// file's name.
nlohmann::ordered_json parse_bounded_json(std::string_view text, std::size_t max_depth);

}  // namespace che
