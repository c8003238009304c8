#include "core/config/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace che {
namespace {

// YAML ignores it at the start of a text.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string full_text(const ConfigNode& node) {
  if (!node.written.empty()) return node.written;
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return "null";
    case ConfigNode::Kind::kScalar:
      return node.quoted ? '"' + node.text + '"' : node.text;
    case ConfigNode::Kind::kSequence: {
      std::string text;
      for (const ConfigNode& item : node.items) text += (text.empty() ? "" : ", ") + full_text(item);
      return '[' + text + ']';
    }
    case ConfigNode::Kind::kMap: {
      std::string text;
      for (const ConfigEntry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + full_text(entry.value);
      }
      return '{' + text + '}';
    }
  }
  return {};
}

// Lines and columns within a command line's argument do not help its reader.
void set_location(ConfigNode& node, const ConfigLocation& location) {
  node.location = location;
  for (ConfigNode& item : node.items) set_location(item, location);
  for (ConfigEntry& entry : node.entries) {
    entry.location = location;
    set_location(entry.value, location);
  }
}

// Where the quoted text ends that starts at `start`, past its quote; npos where it does not end.
std::size_t end_of_quoted(std::string_view value, std::size_t start) {
  const char quote = value[start];
  for (std::size_t i = start + 1; i < value.size(); ++i) {
    if (quote == '"' && value[i] == '\\') {
      ++i;
    } else if (value[i] == quote) {
      if (quote == '"' || i + 1 == value.size() || value[i + 1] != quote) return i + 1;
      ++i;  // Two single quotes are one of the text.
    }
  }
  return std::string_view::npos;
}

// The last bracket, brace or quote of a value that has no counterpart. A quote counts only where a text
// starts; a bracket or a brace counts there and anywhere inside a list or a map.
std::optional<char> left_open(std::string_view value) {
  std::string open;  // Brackets and braces to be closed, the innermost last.
  bool is_start = true;
  bool is_item = false;  // After the dash of an item of a list.
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (is_start && (c == '\'' || c == '"')) {
      const std::size_t end = end_of_quoted(value, i);
      if (end == std::string_view::npos) return c;
      i = end - 1;
      is_start = false;
    } else if (!open.empty() && c == (open.back() == '[' ? ']' : '}')) {
      open.pop_back();
      is_start = false;
    } else if ((is_start || !open.empty()) && (c == '[' || c == '{')) {
      open += c;
      is_start = true;
    } else if (c == ' ' || c == '\t') {
      is_start = is_start || is_item || (i > 0 && value[i - 1] == ':');
      is_item = false;
    } else if (c == '\n') {
      is_start = is_start || open.empty();
    } else {
      is_item = is_start && open.empty() && c == '-';
      is_start = !open.empty() && c == ',';
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

}  // namespace

Setting parse_setting(std::string_view text, std::string_view example) {
  const ConfigLocation location{std::make_shared<const std::string>("command line"), 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw config_error(location, "",
                       fmt::format("got '{}'; allowed: key=value, such as {}", one_line(text), example));
  }
  Setting setting{.path = std::string(text.substr(0, equals)), .value = {}};
  if (text.find(kByteOrderMark) != std::string_view::npos) {
    throw config_error(location, "",
                       fmt::format("got '{}', which has an invisible byte order mark (U+FEFF); take it out",
                                   one_line(text)));
  }
  const std::string_view value = text.substr(equals + 1);
  try {
    setting.value = parse_config(value, setting.path);
  } catch (const Error& error) {
    const std::optional<char> open = left_open(value);
    if (!open) throw config_error(location, "", error.what());
    throw config_error(location, setting.path,
                       fmt::format("got '{}', in which a {} is left open", one_line(value), *open));
  }
  set_location(setting.value, location);
  return setting;
}

const ConfigEntry* ConfigNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &ConfigEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

Error config_error(const ConfigLocation& location, std::string_view path, std::string_view problem) {
  std::string message;
  if (location.source) message = *location.source;
  if (location.line > 0) message += fmt::format(":{}", location.line);
  if (!message.empty()) message += ": ";
  if (!path.empty()) message += one_line(path) + ": ";
  return Error(message.append(problem));
}

std::string short_text(const ConfigNode& node) { return one_line(full_text(node)); }

}  // namespace che
