#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace che {

inline constexpr std::size_t kWholeText = std::string_view::npos;

// `text` in one line that does nothing to a terminal: line breaks and tabs become spaces; other control
// characters, characters that reverse the direction of text, and bytes that are no UTF-8 are written as \x1b
// or \u202e. Cut after about `longest` bytes and "..." then. What is written so stays as it is when this is
// applied again. Every text from a file, a folder's name or a command line is shown through it.
std::string one_line(std::string_view text, std::size_t longest = 80);

// The number of characters in UTF-8 text.
std::size_t character_count(std::string_view text);

}  // namespace che
