#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace che {

// A label of an encoding taken apart: [randomized_][dape_]NAME[(SETTINGS)].
struct EncodingForm {
  bool randomized = false;
  bool dape = false;
  std::string name;
  std::string settings;  // Without the parentheses.
};

EncodingForm encoding_form(std::string_view label);

// Place of an encoding's name in tables, legends and palettes: none, learned, sin_cos, rope,
// relative, alibi, kerple, fire, t5, cope; kUnknownRank for others.
inline constexpr std::size_t kUnknownRank = 10;
std::size_t encoding_rank(std::string_view name);

// Whether the label `one` stands before `other`: plain encodings, then dape_*, then randomized_*,
// each in the order of encoding_rank, then of the alphabet; last by settings, numbers by value.
bool encoding_before(std::string_view one, std::string_view other);

// Whether a row of this level, task and label stands before another: levels and tasks in the order of
// the paper's table, then others by name.
struct TaskPlace {
  std::string level;  // "regular", "dcf", "cs" or empty
  std::string name;
  std::string label;
};
bool task_before(const TaskPlace& one, const TaskPlace& other);

}  // namespace che
