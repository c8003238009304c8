#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tasks/task.h"

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

// A sample in the characters of the task's alphabets, "421302214 -> 011222344". An output that ends at a
// terminator is shown as far as accuracy counts it, terminator included.
std::string text_form(const Task& task, std::span<const std::uint8_t> input,
                      std::span<const std::uint8_t> output, std::span<const std::uint8_t> mask);

// Row `row` of `batch` as members of a JSON object: "input":[...],"output":[...],"mask":[...], symbols as
// ids.
std::string json_members(const Batch& batch, std::int64_t row);

// Row `row` of `batch`.
std::string text_form(const Task& task, const Batch& batch, std::int64_t row);

}  // namespace che
