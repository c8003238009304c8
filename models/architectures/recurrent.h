// These are the recurrent networks of "Neural networks and the Chomsky hierarchy" (arXiv 2207.02098), whose
// program they follow. A cell reads one symbol a step, and the logits are a linear map of ReLU of its hidden
// state. A network with a memory is a machine of the hierarchy: a stack for context-free languages, a tape
// for context-sensitive ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "models/settings/model_entry.h"

namespace che {

struct RecurrentOptions {
  std::int64_t width = 256;  // The hidden state has so many values.

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"width", "width of the hidden state"}, width, 1, 65'536);
  }
};

struct MemoryOptions : RecurrentOptions {
  std::int64_t memory_cell = 8;   // Width of a vector in the memory.
  std::int64_t memory_size = 40;  // Vectors in the memory. The program's example has 40, its classes have 30.
  // The size in evaluation, which the program leaves to its caller. 0 stands for the greater of the
  // sequence's tokens and memory_size, so that no stack overflows and no tape ends.
  std::int64_t memory_size_test = 0;

  std::int64_t size_for(std::int64_t tokens, bool is_evaluation) const {
    if (!is_evaluation) return memory_size;
    return memory_size_test != 0 ? memory_size_test : std::max(memory_size, tokens);
  }

  void visit_fields(FieldVisitor& visit) {
    constexpr std::int64_t kMaxSize = 100'000;
    RecurrentOptions::visit_fields(visit);
    visit.integer({"memory_cell", "width of a vector in the memory"}, memory_cell, 1, 4'096);
    visit.integer({"memory_size", "vectors in the memory"}, memory_size, 1, kMaxSize);
    visit.role(Role::kEvaluation);
    visit.integer({.name = "memory_size_test",
                   .help = "vectors in the memory in evaluation; auto: at least one for each token",
                   .zero_word = "auto"},
                  memory_size_test, 1, kMaxSize);
  }
};

// The layers between the hidden state and what is written to a tape, as released.
inline constexpr std::int64_t kTapeWriterWidth = 64;

// Operations of a step beside the cell: the layers that write and choose, and the memory's move.
inline double stack_operations(const MemoryOptions& options) {
  const auto width = static_cast<double>(options.width), cell = static_cast<double>(options.memory_cell);
  constexpr double kActions = 3;
  return 2 * width * (cell + kActions) + 2 * kActions * cell * static_cast<double>(options.memory_size);
}

inline double tape_operations(const MemoryOptions& options) {
  const auto width = static_cast<double>(options.width), cell = static_cast<double>(options.memory_cell);
  constexpr double kActions = 5, kWriter = kTapeWriterWidth;
  return 2 * (width * (kWriter + kActions) + kWriter * (kWriter + cell)) +
         2 * kActions * cell * static_cast<double>(options.memory_size);
}

// Returns the entry of a network with `gates` blocks of the width, whose memory costs so many operations a
// step. The size of a memory is that of training.
template <class Options>
ModelEntry recurrent_entry(const std::string& name, const std::string& summary, const std::string& source,
                           double gates, double (*memory_operations)(const Options&) = nullptr) {
  return {
      .name = name,
      .summary = summary,
      .source = source,
      .takes_encoding = false,
      .options = Options(),
      .problem = [](const AnyOptions&) -> std::optional<ConfigProblem> { return std::nullopt; },
      .width = [](const AnyOptions& set) { return set.as<Options>().width; },
      .operations =
          [=](const AnyOptions& set, const std::optional<DapeOptions>&, double tokens) {
            const auto& options = set.as<Options>();
            const auto width = static_cast<double>(options.width);
            double read = width;
            if constexpr (requires { options.memory_cell; }) read += static_cast<double>(options.memory_cell);
            const double of_memory = memory_operations == nullptr ? 0 : memory_operations(options);
            return tokens * (2 * gates * width * read + of_memory);
          },
  };
}

inline const Registered<ModelEntry> rnn_entry{recurrent_entry<RecurrentOptions>(
    "rnn", "recurrent network with ReLU", "Delétang et al., arXiv 2207.02098", 1)};
inline const Registered<ModelEntry> lstm_entry{recurrent_entry<RecurrentOptions>(
    "lstm", "long short-term memory", "Hochreiter and Schmidhuber 1997; as in arXiv 2207.02098", 4)};
inline const Registered<ModelEntry> gru_entry{
    recurrent_entry<RecurrentOptions>("gru", "gated recurrent unit", "Cho et al., arXiv 1406.1078", 3)};
inline const Registered<ModelEntry> stack_rnn_entry{recurrent_entry<MemoryOptions>(
    "stack_rnn", "rnn that pushes to and pops from a stack",
    "Joulin and Mikolov, arXiv 1503.01007; as in arXiv 2207.02098", 1, stack_operations)};
inline const Registered<ModelEntry> stack_lstm_entry{recurrent_entry<MemoryOptions>(
    "stack_lstm", "lstm that pushes to and pops from a stack",
    "Joulin and Mikolov, arXiv 1503.01007; as in arXiv 2207.02098", 4, stack_operations)};
inline const Registered<ModelEntry> tape_rnn_entry{recurrent_entry<MemoryOptions>(
    "tape_rnn", "rnn that writes to a tape and moves on it by one or by the input's length",
    "Delétang et al., arXiv 2207.02098", 1, tape_operations)};

}  // namespace che
