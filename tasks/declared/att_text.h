#pragma once

#include <string>
#include <string_view>

#include "core/config/node.h"
#include "tasks/declared/finite_automaton.h"

namespace che {

// The largest automaton that a task may have: its text is stored with every run.
inline constexpr std::size_t kMaxStates = 4'096;
inline constexpr std::size_t kMaxTransitions = 32'768;

// Reads an automaton in the text format of AT&T's FSM library, which OpenFST, foma, pyfoma and HFST read and
// write: one transition "source target input [output]" or final state "state" per line, separated by spaces
// or tabs. The source of the first line is the start. An acceptor may repeat its input as output; a weight of
// 0, which is none, may end a line. `origin` is the place of the first line. `outputs` are the output symbols
// of a transducer, empty for an acceptor.
//
// A missing transition leads to a rejecting sink. Throws Error (usage) with file and line for anything else:
// epsilon, weights, two transitions with one input from one state, an unknown symbol, an automaton that is
// too large.
FiniteAutomaton parse_att_text(std::string_view text, const ConfigLocation& origin, std::string_view symbols,
                               std::string_view outputs);

// The same automaton as text: transitions by state and symbol, those of the start first, then final states.
std::string att_text(const FiniteAutomaton& automaton, std::string_view outputs);

}  // namespace che
