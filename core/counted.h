#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace che {

// "1 run", "3 runs": a number with its noun, whose plural ends in s.
template <class Number>
std::string counted(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace che
