#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tasks/task.h"

namespace che {

// A sample in the characters of the task's alphabets, "421302214 -> 011222344". Of outputs that end
// at a terminator only what accuracy counts is shown, terminator included.
std::string text_form(const Task& task, std::span<const std::uint8_t> input,
                      std::span<const std::uint8_t> output, std::span<const std::uint8_t> mask);

// Row `row` of `batch` as members of a JSON object: "input":[...],"output":[...],"mask":[...], symbols as
// ids.
std::string json_members(const Batch& batch, std::int64_t row);

// Row `row` of `batch`.
std::string text_form(const Task& task, const Batch& batch, std::int64_t row);

}  // namespace che
