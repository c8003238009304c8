#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"

namespace che {

// A complete deterministic automaton; a letter-to-letter transducer where it has outputs. Symbols and states
// are their ids, 0 .. symbols-1 and 0 .. states-1.
struct FiniteAutomaton {
  std::string symbols;                // One byte per input symbol, see tasks/symbols.h.
  std::vector<std::int64_t> numbers;  // (states), as the automaton's text calls them; ascending
  std::int32_t start = 0;
  std::optional<std::int32_t> sink =
      {};  // The state that missing transitions lead to, the last; it has no number.
  std::vector<std::uint8_t> accepting;  // (states)
  std::vector<std::int32_t> next;       // (states, symbols)
  std::vector<std::uint8_t> output;     // (states, symbols), ids of output symbols; empty for an acceptor

  std::size_t states() const { return accepting.size(); }
  std::size_t edge(std::int32_t state, std::size_t symbol) const {
    return static_cast<std::size_t>(state) * symbols.size() + symbol;
  }
  std::int32_t step(std::int32_t state, std::size_t symbol) const { return next[edge(state, symbol)]; }
  bool is_accepting(std::int32_t state) const { return accepting[static_cast<std::size_t>(state)] != 0; }

  // Which states some input leads to; (states).
  std::vector<std::uint8_t> reachable() const;
};

// The largest automaton that a task may have: its text is stored with every run.
inline constexpr std::size_t kMaxStates = 4'096;
inline constexpr std::size_t kMaxTransitions = 32'768;

// Reads an automaton in the text format of AT&T's FSM library, which OpenFST, foma, pyfoma and HFST read and
// write. A line has a transition "source target input [output]" or a final state "state", separated by spaces
// or tabs. The source of the first line is the start. An acceptor may repeat its input as output; a weight of
// 0, which is none, may end a line. `origin` is the place of the first line. `outputs` are the output symbols
// of a transducer, empty for an acceptor.
//
// A missing transition leads to a rejecting sink. Throws Error (usage) with file and line for anything else:
// epsilon, weights, two transitions with one input from one state, an unknown symbol, an automaton that is
// too large.
FiniteAutomaton parse_att_text(std::string_view text, const ConfigLocation& origin, std::string_view symbols,
                               std::string_view outputs);

// Returns the automaton as such a text: transitions by state and symbol, those of the start first, then final
// states.
std::string att_text(const FiniteAutomaton& automaton, std::string_view outputs);

// Reads a symbol table of OpenFST, one "symbol number" per line: the symbols by number, without epsilon,
// which has number 0. `origin` is the place of the first line. Throws Error (usage) with file and line for
// symbols that are no single printable ASCII character, and for symbols or numbers that are there twice.
std::string parse_symbol_table(std::string_view text, const ConfigLocation& origin);

}  // namespace che
