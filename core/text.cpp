#include "core/text.h"

#include <cstdint>

#include "core/error.h"

namespace che {
namespace {

// The code point of one UTF-8 character.
std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

bool is_line_space(std::uint32_t code) {
  return code == '\n' || code == '\r' || code == '\t' || code == 0x2028 || code == 0x2029;
}

bool is_control(std::uint32_t code) {
  const bool sets_direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || sets_direction;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t longest) {
  std::string line;
  while (!text.empty()) {
    if (line.size() >= longest) return line + "...";
    const std::size_t bytes = utf8_character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    text.remove_prefix(character.size());
    const std::uint32_t code = bytes == 0 ? static_cast<unsigned char>(character[0]) : code_point(character);
    if (bytes == 0 || (is_control(code) && !is_line_space(code))) {
      line += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    } else if (is_line_space(code)) {
      line += ' ';
    } else {
      line += character;
    }
  }
  return line;
}

std::string one_line_text(std::string_view text) {
  if (one_line(text, kWholeText) != text) throw Error("more than one line, or control characters");
  return std::string(text);
}

std::size_t character_count(std::string_view text) {
  // Every byte but those that continue a character.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::size_t utf8_character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t count = lead < 0x80   ? 1
                            : lead < 0xC2 ? 0
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                            : lead < 0xF5 ? 4
                                          : 0;
  if (count == 0 || count > text.size()) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if (count > 2) {
    const unsigned second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return 0;
    }
  }
  return count;
}

std::string plain_name_form(std::size_t longest) {
  return fmt::format("1 to {} letters, digits, '_', '-' and '.', no '.' or '-' first", longest);
}

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
