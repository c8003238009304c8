#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"
#include "core/error.h"
#include "tasks/declared/finite_automaton.h"
#include "tasks/task.h"

namespace che {

// The answer of a task about its input.
enum class AnswerKind {
  kAccept,      // One symbol: 1 where the automaton accepts the input, else 0.
  kLastState,   // One symbol: the state after the input.
  kStates,      // The state after each symbol.
  kLastOutput,  // One symbol: the transducer's output at the last symbol.
  kOutput,      // The transducer's output at each symbol.
};

// How inputs are drawn.
enum class InputSampling {
  kUniform,   // Every symbol uniform and independent.
  kBalanced,  // Accepted or rejected with probability 1/2, uniform among the strings of that kind.
  kWalk,      // Every symbol uniform among those that the state has a transition for.
};

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

// A task that a file declares: a head in YAML and an automaton or a group.
struct TaskDefinition {
  std::string name;
  std::int64_t version = 1;
  Level level = Level::kRegular;
  std::string description;              // One line; may be empty.
  std::string source;                   // Where the language is from, one line; may be empty.
  std::string group;                    // "S5"; empty for an automaton.
  std::vector<std::string> generators;  // The group's, by symbol; empty for all of its elements.
  FiniteAutomaton automaton;            // The states of a group's automaton are its elements.
  std::string outputs;                  // One byte per output symbol, see tasks/symbols.h.
  AnswerKind answer = AnswerKind::kAccept;
  InputSampling sampling = InputSampling::kUniform;

  // Everything that determines samples, as a definition with the automaton inside, in one way of writing:
  // equal texts mean equal tasks. The order of an automaton's lines, comments, description and source are no
  // part of it.
  std::string canonical() const;
};

// Returns the first 16 hexadecimal digits of the canonical text's SHA-256.
std::string definition_digest(std::string_view canonical);

// Whether a word of a command line names a file and not a registered task: it ends in .yaml or .yml.
bool is_task_file(std::string_view word);

// Reads a definition:
//
//   name: tomita_4                # lower-case letters, digits and '_'; not the name of a built-in task
//   version: 1                    # optional; raise it when the language changes
//   level: regular                # optional: regular, dcf or cs, where tables list it
//   description: one line         # optional
//   source: one line              # optional: paper or URL
//   automaton: tomita_4.att       # a file in AT&T's format next to this one, or the text itself behind '|'
//   symbols: [a, b]               # order of the one-hot; or the name of a symbol table of OpenFST
//   outputs: ["0", "1"]           # output symbols of a transducer; optional names of the states for states
//   answer: accept                # accept, last_state, states, last_output, output
//   sample: uniform               # optional: uniform, balanced (with accept) or walk
//
// or, in place of automaton and symbols, `group: S5` with `generators: all` or a list of elements, and
// optionally symbols, one per generator. The group's state is the product of the symbols so far; accept asks
// for the identity.
//
// `source` is the file's path, for messages. Files that it names lie in `folder`; where it is empty, the text
// must hold everything. Throws Error (usage) with file, line, what is wrong and what is allowed.
TaskDefinition parse_task_definition(std::string_view text, const std::string& source,
                                     const std::filesystem::path& folder = {});

// Reads the map that such a text holds.
TaskDefinition read_definition(const ConfigNode& root, const std::filesystem::path& folder);

// Reads such a file. Where there is none, the error suggests a file of a similar name.
TaskDefinition read_task_file(const std::filesystem::path& path);

// The task; its random streams are keyed by the canonical definition, so that equal definitions draw equal
// samples.
std::unique_ptr<Task> make_task(TaskDefinition definition);

// The registered task with this name, or the one that a file declares (see is_task_file). Throws Error
// (usage).
std::unique_ptr<Task> create_task_or_read(const std::string& name_or_file);

}  // namespace che
