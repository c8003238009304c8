#include "tasks/declared/symbol_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/number_text.h"
#include "core/text.h"

namespace che {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

std::string parse_symbol_table(std::string_view text, const ConfigLocation& origin) {
  ConfigLocation location = origin;
  std::map<std::int64_t, char> symbols;
  for (; !text.empty(); ++location.line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto fail = [&](std::string_view problem) {
      throw config_error(location, "", fmt::format("{}; allowed: 'symbol number' per line", problem));
    };
    const std::size_t blank = std::min(line.find_first_of(kBlanks), line.size());
    const std::string_view symbol = line.substr(0, blank);
    const auto number = parse_integer(trimmed(line.substr(blank)));
    if (!number || *number < 0) fail(fmt::format("got '{}'", one_line(line)));
    if (*number == 0) continue;
    if (symbol.size() != 1 || symbol[0] <= ' ' || symbol[0] > '~') {
      fail(
          fmt::format("got the symbol '{}', which is no single printable ASCII character", one_line(symbol)));
    }
    const auto is_same = [&](const auto& entry) { return entry.second == symbol[0]; };
    if (symbols.contains(*number) || std::ranges::any_of(symbols, is_same)) {
      fail(fmt::format("'{}' or its number {} is there twice", symbol, *number));
    }
    symbols.emplace(*number, symbol[0]);
  }
  std::string ordered;
  for (const auto& [number, symbol] : symbols) ordered += symbol;
  return ordered;
}

}  // namespace che
