#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/error.h"
#include "tasks/declared/task_definition.h"

namespace che {

// A word of a definition and what it stands for.
template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

inline constexpr std::array<Word<AnswerKind>, 5> kAnswers = {{{"accept", AnswerKind::kAccept},
                                                              {"last_state", AnswerKind::kLastState},
                                                              {"states", AnswerKind::kStates},
                                                              {"last_output", AnswerKind::kLastOutput},
                                                              {"output", AnswerKind::kOutput}}};
inline constexpr std::array<Word<InputSampling>, 3> kSamplings = {{{"uniform", InputSampling::kUniform},
                                                                   {"balanced", InputSampling::kBalanced},
                                                                   {"walk", InputSampling::kWalk}}};
inline constexpr std::array<Word<Level>, 3> kLevels = {
    {{"regular", Level::kRegular}, {"dcf", Level::kDcf}, {"cs", Level::kCs}}};

template <class Value, std::size_t N>
std::string_view word_of(const std::array<Word<Value>, N>& words, Value value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  throw Error("a setting of a task out of range", ErrorKind::kRuntime);
}

// Whether the answer is of a transducer.
inline bool is_transducer(AnswerKind answer) {
  return answer == AnswerKind::kOutput || answer == AnswerKind::kLastOutput;
}

}  // namespace che
