#include "tasks/declared/automaton_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace che {
namespace {

// Those of the last definition are kept: a sweep makes the task of each of its runs, and to count the strings
// of a large automaton takes seconds.
std::shared_ptr<const BalancedCounts> balanced_counts(const TaskDefinition& definition) {
  static std::mutex mutex;
  static std::string counted;
  static std::shared_ptr<const BalancedCounts> last;
  std::string canonical = definition.canonical();
  const std::lock_guard lock(mutex);
  if (!last || counted != canonical) {
    last = std::make_shared<const BalancedCounts>(definition.automaton);
    counted = std::move(canonical);
  }
  return last;
}

}  // namespace

std::int64_t BalancedCounts::longest_with_both(std::int64_t length) const {
  const std::lock_guard lock(mutex_);
  while (static_cast<std::int64_t>(longest_.size()) <= length) {
    std::vector<bool> now(automaton.states());
    if (longest_.empty()) now[static_cast<std::size_t>(automaton.start)] = true;
    for (std::size_t state = 0; state < reached_.size(); ++state) {
      for (std::size_t symbol = 0; reached_[state] && symbol < automaton.symbols.size(); ++symbol) {
        now[static_cast<std::size_t>(automaton.step(static_cast<std::int32_t>(state), symbol))] = true;
      }
    }
    std::array<bool, 2> is_some = {false, false};  // Rejected, accepted.
    for (std::size_t state = 0; state < now.size(); ++state) {
      if (now[state]) is_some[automaton.accepting[state] != 0 ? 1 : 0] = true;
    }
    std::int64_t longest = longest_.empty() ? 0 : longest_.back();
    if (is_some[0] && is_some[1]) longest = static_cast<std::int64_t>(longest_.size());
    longest_.push_back(longest);
    reached_ = std::move(now);
  }
  return longest_[static_cast<std::size_t>(length)];
}

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

AutomatonTask::AutomatonTask(TaskDefinition definition) : definition_(std::move(definition)) {
  if (definition_.sampling == InputSampling::kBalanced) {
    balanced_ = balanced_counts(definition_);
  } else {
    chance_ = std::make_unique<AnswerChance>(definition_);
  }
}

std::int64_t AutomatonTask::input_length(std::int64_t length) const {
  const std::int64_t longest = balanced_ ? balanced_->longest_with_both(length) : length;
  return longest > 0 ? longest : length;  // One without a balanced sample has a problem.
}

std::int64_t AutomatonTask::output_length(std::int64_t length) const {
  const bool each_position =
      definition_.answer == AnswerKind::kStates || definition_.answer == AnswerKind::kOutput;
  return each_position ? input_length(length) : 1;
}

std::string AutomatonTask::length_problem(std::int64_t length) const {
  if (!balanced_) return {};
  if (length > balanced_->accepted.max_length()) {
    return fmt::format(
        "balanced samples of length {} need too many counts; allowed with {} states and {} symbols: up to {}",
        length, definition_.automaton.states(), definition_.automaton.symbols.size(),
        balanced_->accepted.max_length());
  }
  // If 2 * states lengths in a row have strings of one kind only, so have all longer ones: over the first
  // states of these lengths all reached states are equivalent, and over the others their class repeats.
  const std::int64_t reach = 2 * static_cast<std::int64_t>(definition_.automaton.states());
  const std::int64_t longest = balanced_->longest_with_both(length);
  if (longest == length) return {};
  if (longest > 0 && balanced_->longest_with_both(longest + reach) > longest) return {};
  if (longest > 0) {
    return fmt::format(
        "has no balanced samples of length {}: beyond {} the automaton accepts all strings of a length or "
        "none; allowed: lengths up to {}, or sample 'uniform'",
        length, longest, longest);
  }
  const std::int64_t last = std::min(length + reach, balanced_->accepted.max_length());
  for (std::int64_t longer = length + 1; longer <= last; ++longer) {
    if (balanced_->longest_with_both(longer) > 0) {
      return fmt::format(
          "has no balanced samples of length {}, where the automaton accepts all strings or none; allowed: "
          "lengths "
          "from {}",
          length, longer);
    }
  }
  return fmt::format(
      "has no balanced samples of length {}: the automaton accepts all strings of a length or none; allowed: "
      "sample "
      "'uniform'",
      length);
}

double AutomatonTask::chance_at(std::int64_t length) const { return chance_ ? chance_->at(length) : 0.5; }

void AutomatonTask::walk(RandomStream& random, std::span<std::uint8_t> input) const {
  const FiniteAutomaton& automaton = definition_.automaton;
  const std::size_t symbols = automaton.symbols.size();
  std::int32_t state = automaton.start;
  for (std::uint8_t& drawn : input) {
    std::uint32_t choices = 0;
    for (std::size_t symbol = 0; symbol < symbols; ++symbol)
      choices += automaton.step(state, symbol) != automaton.sink ? 1 : 0;
    std::uint32_t left = random.below(choices);
    std::size_t symbol = 0;
    while (automaton.step(state, symbol) == automaton.sink || left-- > 0) ++symbol;
    drawn = static_cast<std::uint8_t>(symbol);
    state = automaton.step(state, symbol);
  }
}

void AutomatonTask::answer(std::span<const std::uint8_t> input, std::span<std::uint8_t> output) const {
  const FiniteAutomaton& automaton = definition_.automaton;
  std::int32_t state = automaton.start;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::size_t edge = automaton.edge(state, input[i]);
    state = automaton.next[edge];
    if (definition_.answer == AnswerKind::kStates) output[i] = static_cast<std::uint8_t>(state);
    if (definition_.answer == AnswerKind::kOutput) output[i] = automaton.output[edge];
    if (definition_.answer == AnswerKind::kLastOutput) output[0] = automaton.output[edge];
  }
  if (definition_.answer == AnswerKind::kAccept) output[0] = automaton.is_accepting(state) ? 1 : 0;
  if (definition_.answer == AnswerKind::kLastState) output[0] = static_cast<std::uint8_t>(state);
}

void AutomatonTask::sample(RandomStream& random, std::int64_t /*length*/, std::span<std::uint8_t> input,
                           std::span<std::uint8_t> output) const {
  switch (definition_.sampling) {
    case InputSampling::kUniform:
      for (std::uint8_t& symbol : input) {
        symbol = static_cast<std::uint8_t>(random.below(definition_.automaton.symbols.size()));
      }
      break;
    case InputSampling::kBalanced:
      ((random() & 1U) != 0 ? balanced_->accepted : balanced_->rejected).draw(random, input);
      break;
    case InputSampling::kWalk:
      walk(random, input);
      break;
  }
  answer(input, output);
}

std::unique_ptr<Task> make_task(TaskDefinition definition) {
  TaskTraits traits{.name = definition.name,
                    .level = definition.level,
                    .chance = 1 / static_cast<double>(definition.outputs.size()),
                    .stream_key = definition.canonical()};
  return with_traits(std::make_unique<AutomatonTask>(std::move(definition)), std::move(traits));
}

std::unique_ptr<Task> create_task_or_read(const std::string& name_or_file) {
  return is_task_file(name_or_file) ? make_task(read_task_file(name_or_file)) : create_task(name_or_file);
}

}  // namespace che
