#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/number_text.h"

namespace che {

// Test lengths as the command line names them: numbers and ranges such as "50,100,200" or "41:500:27".
class LengthChoice {
 public:
  // Throws Error (usage) for any other text.
  explicit LengthChoice(const std::string& text);

  bool contains(std::int64_t length) const;
  // As it was given.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<IntegerRange> ranges_;
};

// How the learning rate of a cell is chosen: the rate whose mean over the repetitions is the highest.
enum class SelectionRule {
  kTraining,    // The accuracy at the end of training, see TrainingOutcome.
  kValidation,  // The accuracy at the scored lengths on samples of other evaluation seeds than the config's.
};

// "training", "validation": the words of the command line. Throws Error (usage) for another word.
const std::vector<std::string>& selection_rule_names();
SelectionRule selection_rule_named(const std::string& name);

// How stored results become scores. Tables, figures and comparisons read runs by the same rules.
struct ReadingRules {
  // The test lengths whose mean is a score; those of each run's config where nothing is given.
  std::optional<LengthChoice> score_lengths;
  std::optional<SelectionRule> select;  // Without it, the runs of every learning rate stay in a cell.
};

// "41:500:27" for lengths in equal steps, "50,100,200" for others; `lengths` ascend.
std::string lengths_option(const std::vector<std::int64_t>& lengths);

}  // namespace che
