#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace che {

inline constexpr std::size_t kWholeText = std::string_view::npos;

// Returns `text` in one line that does nothing to a terminal. Line breaks and tabs become spaces. Other
// control characters, characters that reverse the direction of text, and bytes that are no UTF-8 are written
// as \x1b or \u202e. Cut after about `longest` bytes and "..." then. Applied to its own result, it changes
// nothing. Every text from a file, a folder's name or a command line is shown through it.
std::string one_line(std::string_view text, std::size_t longest = 80);

// `text` itself. Throws Error (usage) unless it is one such line.
std::string one_line_text(std::string_view text);

// The number of characters in UTF-8 text.
std::size_t character_count(std::string_view text);

// The bytes of the UTF-8 character that `text`, which is not empty, starts with; 0 where there is none.
std::size_t utf8_character_bytes(std::string_view text);

// "1 run", "3 runs": a number with its noun, whose plural ends in s.
template <class Number>
std::string counted(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// Joins the texts that `text` makes of the items.
template <class Items, class Text>
std::string joined(const Items& items, std::string_view separator, const Text& text) {
  std::vector<std::string> texts;
  texts.reserve(std::size(items));
  for (const auto& item : items) texts.push_back(text(item));
  return fmt::format("{}", fmt::join(texts, separator));
}

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

// Returns a description of the names that is_plain_name() allows, for messages.
std::string plain_name_form(std::size_t longest);

// `text` as one word of a shell's command line, in quotes.
std::string quoted_shell_word(std::string_view text);

// Returns it in quotes only where a shell would read it otherwise.
std::string shell_word(std::string_view text);

}  // namespace che
