#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace che {

// Alphabets have one byte per symbol, a character of Latin-1. Those of built-in tasks, and those that a
// task's file names, are printable ASCII; larger alphabets that the program names itself go on with letters
// of Latin-1.

// The size of the largest alphabet that can be named.
inline constexpr std::size_t kMaxSymbols = 188;

// The first `count` of the names 0 1 ... 9 a b ... z A B ... Z and other printable characters; count <=
// kMaxSymbols.
std::string default_symbols(std::size_t count);

// The symbols in UTF-8, for people and for files.
std::string shown_symbols(std::string_view symbols);

}  // namespace che
