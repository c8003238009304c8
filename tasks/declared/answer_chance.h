#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "tasks/declared/task_definition.h"

namespace che {

// The accuracy of the best constant answer to inputs that are drawn uniformly or by walks, by length: exact
// up to the rounding of doubles, from the distribution of the automaton's state after each symbol. With an
// answer at each symbol, the constant is one for all of them. Every function may be called from several
// threads.
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

}  // namespace che
