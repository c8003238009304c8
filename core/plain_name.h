#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace che {

// Characters of names that become folders and files and stand on command lines.
constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

// Whether `text` is 1 to `longest` of them and is neither hidden nor taken for an option: no '.' or '-'
// first.
constexpr bool is_plain_name(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, is_name_character);
}

}  // namespace che
