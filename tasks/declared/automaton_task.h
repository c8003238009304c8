#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/declared/string_counts.h"
#include "tasks/declared/task_definition.h"
#include "tasks/task.h"

namespace che {

// The accuracy of the best constant answer to inputs that are drawn uniformly or by walks, by length. It
// comes from the distribution of the automaton's state after each symbol and is exact up to the rounding of
// doubles. With an answer at each symbol, the constant is one for all of them. Every function may be called
// from several threads.
class AnswerChance {
 public:
  // `definition` must outlive the object; its inputs are not balanced.
  explicit AnswerChance(const TaskDefinition& definition);

  // Takes time in proportion to length times transitions, once.
  double at(std::int64_t length) const;

 private:
  void advance() const;

  const TaskDefinition& definition_;
  mutable std::mutex mutex_;
  mutable std::vector<double> state_;    // (states), probability after the last length in chance_
  mutable std::vector<double> answers_;  // (outputs), summed over positions where each has an answer
  mutable std::vector<double> chance_;   // By length - 1.
};

// Balanced inputs are drawn by these counts. Every function may be called from several threads.
struct BalancedCounts {
  explicit BalancedCounts(FiniteAutomaton of)
      : automaton(std::move(of)), accepted(automaton, true), rejected(automaton, false) {}

  // The greatest length up to `length` of which some strings are accepted and some rejected; 0 for none. It
  // counts none: it takes time in proportion to length times transitions, once.
  std::int64_t longest_with_both(std::int64_t length) const;

  const FiniteAutomaton automaton;
  const StringCounts accepted;
  const StringCounts rejected;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<bool> reached_;          // (states), by strings of the last length below
  mutable std::vector<std::int64_t> longest_;  // By length.
};

// The task of a definition.
class AutomatonTask : public Task {
 public:
  explicit AutomatonTask(TaskDefinition definition);

  const TaskDefinition& definition() const { return definition_; }

  std::string_view input_symbols() const override { return definition_.automaton.symbols; }
  std::string_view output_symbols() const override { return definition_.outputs; }
  // Balanced samples of a length at which all strings are accepted, or all rejected, are of the next shorter
  // length that has both.
  std::int64_t input_length(std::int64_t length) const override;
  std::int64_t output_length(std::int64_t length) const override;
  std::string length_problem(std::int64_t length) const override;
  double chance_at(std::int64_t length) const override;

  void sample(RandomStream& random, std::int64_t length, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override;

  // Writes the answer to `input`, whose symbols are ids; `output` has output_length elements of its length.
  void answer(std::span<const std::uint8_t> input, std::span<std::uint8_t> output) const;

 private:
  void walk(RandomStream& random, std::span<std::uint8_t> input) const;

  TaskDefinition definition_;
  std::unique_ptr<AnswerChance> chance_;            // Null where inputs are balanced.
  std::shared_ptr<const BalancedCounts> balanced_;  // Null where they are not.
};

}  // namespace che
