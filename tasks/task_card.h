#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace che {

// What a user of a task needs to know besides its samples.
struct TaskCard {
  std::string source;                 // The paper that published it, with its arXiv number.
  std::string bibtex;                 // Of that paper, several lines.
  std::vector<std::string> pitfalls;  // Where hand-made copies and papers differ, one sentence each.
  std::vector<std::string> changes;   // By version of the generator, from 1.
};

// The card of a registered task. Throws Error (runtime) where there is none.
const TaskCard& task_card(std::string_view task);

}  // namespace che
