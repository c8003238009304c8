#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/number_text.h"
#include "workloads/metric.h"

namespace che {

// Test lengths in the form of the command line: numbers and ranges such as "50,100,200" or "41:500:27".
class LengthChoice {
 public:
  // Throws Error (usage) for any other text.
  explicit LengthChoice(const std::string& text);

  bool contains(std::int64_t length) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<IntegerRange> ranges_;
};

// The measure by which a cell's learning rate is chosen. The rate with the best mean over the repetitions
// wins, the highest accuracy or, of a text, the lowest loss.
enum class SelectionRule {
  kTraining,    // At the end of training; see TrainingOutcome.
  kValidation,  // At the scored lengths, on samples of other evaluation seeds than the config's; of a text,
                // the last loss on the validation part.
};

// The words of the command line are "training" and "validation". Throws Error (usage) for another word.
const std::vector<std::string>& selection_rule_names();
SelectionRule selection_rule_named(const std::string& name);
const std::string& selection_rule_name(SelectionRule rule);

// How stored results become scores. Tables, figures and comparisons read runs by the same rules.
struct ReadingRules {
  // The test lengths whose mean is a score. By default they are those of each run's config.
  std::optional<LengthChoice> score_lengths;
  std::optional<SelectionRule> select;  // Without it, the runs of every learning rate stay in a cell.
  std::optional<Metric> metric = {};    // In place of the workload's own.
};

// Writes ascending lengths as --score-lengths takes them: "41:500:27" if the steps are equal, else
// "50,100,200".
std::string lengths_option(const std::vector<std::int64_t>& lengths);

}  // namespace che
