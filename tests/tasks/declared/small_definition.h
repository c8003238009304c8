#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/declared/task_definition.h"

namespace che {

using Bytes = std::vector<std::uint8_t>;  // Ids of symbols.

// Row `row` of an array of rows of `width` symbols.
inline Bytes bytes_of(const Bytes& rows, std::int64_t width, std::int64_t row) {
  const auto begin = rows.begin() + row * width;
  return {begin, begin + width};
}

// A definition with the automaton inside: symbols a and b, and these lines of YAML too.
inline TaskDefinition small_definition(std::string_view automaton,
                                       const std::string& more = "answer: accept\n") {
  std::string text = "name: small\nsymbols: [a, b]\n" + more + "automaton: |\n";
  while (!automaton.empty()) {
    const std::size_t end = automaton.find('\n') + 1;
    text += "  " + std::string(automaton.substr(0, end));
    automaton.remove_prefix(end);
  }
  return parse_task_definition(text, "small");
}

// Strings without aaa, Tomita 4.
inline constexpr std::string_view kNoThree = "0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n2\n";

}  // namespace che
