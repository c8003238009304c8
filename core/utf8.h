#pragma once

#include <cstddef>
#include <string_view>

namespace che {

// The bytes of the UTF-8 character that `text`, which is not empty, starts with; 0 where there is none.
std::size_t utf8_character_bytes(std::string_view text);

}  // namespace che
