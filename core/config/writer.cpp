#include "core/config/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/config/field_list.h"
#include "core/number_text.h"

namespace che {
namespace {

// Other readers of YAML take these for booleans or null.
constexpr std::array<std::string_view, 9> kReservedWords = {"y",   "n",    "yes",   "no",  "on",
                                                            "off", "true", "false", "null"};

bool is_plain_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || !std::ranges::all_of(text, allowed)) return false;
  const bool letter_first = text[0] < '0' || text[0] > '9';
  return letter_first && !std::ranges::count(kReservedWords, text);
}

// Choices and texts of one line have no control characters; numbers, true and false are written as they are.
std::string scalar(const FieldRecord& record) {
  if (record.number || record.boolean || is_plain_word(record.value)) return record.value;
  std::string quoted = "\"";
  for (const char c : record.value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// A text of several lines, none of them empty and the first not indented, as a block of YAML. Its lines stand
// two columns further in than the key.
std::string block(std::string_view text, const std::string& indentation) {
  std::string yaml = text.ends_with('\n') ? "|\n" : "|-\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    yaml += fmt::format("{}  {}\n", indentation, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return yaml;
}

}  // namespace

std::string write_fields(const FieldVisitor::Members& members) {
  std::string yaml;
  std::string open;  // The path of the group that the last line stands in, with a final dot.
  const auto indent = [](std::string_view path) {
    return std::string(2 * static_cast<std::size_t>(std::ranges::count(path, '.')), ' ');
  };
  for (const FieldRecord& record : list_fields(members)) {
    if (record.group) continue;
    const std::size_t name_at = record.path.rfind('.') + 1;
    const std::string group = record.path.substr(0, name_at);
    // The groups of this field that are not open yet.
    std::size_t shared = 0;
    for (std::size_t i = 0; i < std::min(open.size(), group.size()) && open[i] == group[i]; ++i) {
      if (open[i] == '.') shared = i + 1;
    }
    for (std::size_t start = shared; start < group.size();) {
      const std::size_t dot = group.find('.', start);
      yaml += fmt::format("{}{}:\n", indent(group.substr(0, start)), group.substr(start, dot - start));
      start = dot + 1;
    }
    open = group;
    const bool is_block = record.value.find('\n') != std::string::npos;
    yaml += fmt::format("{}{}: {}", indent(group), record.path.substr(name_at),
                        is_block ? block(record.value, indent(group)) : scalar(record) + "\n");
  }
  return yaml;
}

}  // namespace che
