#include "tasks/declared/finite_automaton.h"

namespace che {

std::vector<std::uint8_t> FiniteAutomaton::reachable() const {
  std::vector<std::uint8_t> reached(states(), 0);
  std::vector<std::int32_t> open = {start};
  reached[static_cast<std::size_t>(start)] = 1;
  while (!open.empty()) {
    const std::int32_t state = open.back();
    open.pop_back();
    for (std::size_t symbol = 0; symbol < symbols.size(); ++symbol) {
      const std::int32_t target = step(state, symbol);
      if (reached[static_cast<std::size_t>(target)] != 0) continue;
      reached[static_cast<std::size_t>(target)] = 1;
      open.push_back(target);
    }
  }
  return reached;
}

}  // namespace che
