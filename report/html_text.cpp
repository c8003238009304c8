#include "report/html_text.h"

#include <fmt/format.h>

#include <cctype>

#include "core/text.h"

namespace che {
namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  // Lines stay lines: a config is shown as it is.
  for (bool is_first = true; !text.empty() || is_first; is_first = false) {
    const std::size_t end = text.find('\n');
    for (const char c : one_line(text.substr(0, end), kWholeText)) {
      const std::string_view entity = entity_of(c);
      entity.empty() ? result += c : result += entity;
    }
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string url_path(std::string_view path) {
  std::string url;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays =
        c == '/' || c == '.' || c == '-' || c == '_' || (byte < 0x80 && std::isalnum(byte) != 0);
    url += stays ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return url;
}

}  // namespace che
