#include "tasks/declared/answer_chance.h"

#include <algorithm>

namespace che {

AnswerChance::AnswerChance(const TaskDefinition& definition)
    : definition_(definition),
      state_(definition.automaton.states(), 0.0),
      answers_(definition.outputs.size(), 0.0) {
  state_[static_cast<std::size_t>(definition.automaton.start)] = 1;
}

void AnswerChance::advance() const {
  const FiniteAutomaton& automaton = definition_.automaton;
  const AnswerKind answer = definition_.answer;
  const bool each_position = answer == AnswerKind::kStates || answer == AnswerKind::kOutput;
  const bool has_output = answer == AnswerKind::kLastOutput || answer == AnswerKind::kOutput;
  const bool walks = definition_.sampling == InputSampling::kWalk;
  if (!each_position) std::fill(answers_.begin(), answers_.end(), 0.0);

  std::vector<double> after(state_.size(), 0.0);
  for (std::size_t state = 0; state < state_.size(); ++state) {
    if (state_[state] == 0) continue;
    const auto id = static_cast<std::int32_t>(state);
    const auto drawn = [&](std::size_t symbol) {
      return !walks || automaton.step(id, symbol) != automaton.sink;
    };
    std::size_t choices = 0;
    for (std::size_t symbol = 0; symbol < automaton.symbols.size(); ++symbol)
      choices += drawn(symbol) ? 1 : 0;
    const double probability = state_[state] / static_cast<double>(choices);
    for (std::size_t symbol = 0; symbol < automaton.symbols.size(); ++symbol) {
      if (!drawn(symbol)) continue;
      after[static_cast<std::size_t>(automaton.step(id, symbol))] += probability;
      if (has_output) answers_[automaton.output[automaton.edge(id, symbol)]] += probability;
    }
  }
  state_ = std::move(after);
  if (answer == AnswerKind::kAccept) {
    for (std::size_t state = 0; state < state_.size(); ++state) {
      answers_[automaton.accepting[state] != 0 ? 1 : 0] += state_[state];
    }
  } else if (!has_output) {
    for (std::size_t state = 0; state < answers_.size(); ++state) answers_[state] += state_[state];
  }
  const double positions = each_position ? static_cast<double>(chance_.size() + 1) : 1;
  chance_.push_back(*std::max_element(answers_.begin(), answers_.end()) / positions);
}

double AnswerChance::at(std::int64_t length) const {
  const std::lock_guard lock(mutex_);
  while (static_cast<std::int64_t>(chance_.size()) < length) advance();
  return chance_[static_cast<std::size_t>(length - 1)];
}

}  // namespace che
