#include "core/shell_word.h"

#include <algorithm>

#include "core/plain_name.h"

namespace che {

std::string quoted_shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) { return is_name_character(c) || c == '/'; };
  return !text.empty() && std::ranges::all_of(text, is_plain) ? std::string(text) : quoted_shell_word(text);
}

}  // namespace che
