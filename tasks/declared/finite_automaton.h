#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace che
