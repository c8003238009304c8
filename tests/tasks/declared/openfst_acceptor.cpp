#include "tests/tasks/declared/openfst_acceptor.h"

#include <fst/fstlib.h>
#include <fst/script/compile-impl.h>

#include <sstream>

namespace che {

using fst::StdArc;
using fst::StdVectorFst;

struct OpenFstAcceptor::Automaton {
  StdVectorFst fst;
};

OpenFstAcceptor::OpenFstAcceptor(const std::string& text, const std::string& symbols)
    : automaton_(std::make_unique<Automaton>()) {
  fst::SymbolTable table;
  table.AddSymbol("<eps>", 0);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    table.AddSymbol(std::string(1, symbols[i]), static_cast<std::int64_t>(i) + 1);
  }
  std::istringstream stream(text);
  const fst::FstCompiler<StdArc> compiler(stream, "text", &table, &table, nullptr, /*accep=*/true,
                                          /*ikeep=*/false,
                                          /*okeep=*/false, /*nkeep=*/false);
  automaton_->fst = StdVectorFst(compiler.Fst());
}

OpenFstAcceptor::~OpenFstAcceptor() = default;

bool OpenFstAcceptor::accepts(const std::vector<std::uint8_t>& input) const {
  StdVectorFst string;
  string.SetStart(string.AddState());
  for (std::size_t i = 0; i < input.size(); ++i) {
    const int state = static_cast<int>(i);
    string.AddState();
    string.AddArc(state, StdArc(input[i] + 1, input[i] + 1, 0, state + 1));
  }
  string.SetFinal(static_cast<int>(input.size()), 0);
  StdVectorFst both;
  fst::Intersect(string, automaton_->fst, &both);
  fst::Connect(&both);
  return both.Start() != fst::kNoStateId;
}

bool OpenFstAcceptor::is_deterministic() const {
  return automaton_->fst.Properties(fst::kIDeterministic, true) != 0;
}

bool OpenFstAcceptor::has_epsilon() const { return automaton_->fst.Properties(fst::kNoIEpsilons, true) == 0; }

}  // namespace che
