#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// One value of Table 2 of the DAPE paper (arXiv 2405.14722).
struct PaperValue {
  EncodingForm column;  // The method as we name it: randomized_rope, randomized_dape_kerple.
  double score = 0;     // Accuracy, 0 .. 1
  // Whether our encoding has randomized positions as well, so that like is compared with like.
  bool is_comparable = true;

  bool operator==(const PaperValue&) const = default;
};

// A column of the paper's table, in its order. Its header says "Randomized" over seven columns and nothing of
// the positions of DAPE's three. We read these as randomized, too; docs/deviations.md has the evidence.
struct PaperColumn {
  EncodingForm form;    // randomized_rope, randomized_dape_kerple
  std::string heading;  // What the paper prints above it: "Randomized" or "DAPE (Ours)".
};
const std::vector<PaperColumn>& paper_columns();

// The paper's value for a task and an encoding of ours; nothing where the paper has no number for them. The
// paper does not state how it reads `direction`, `randomized_distance` and similar choices, so every choice
// has the value; an encoding with other numbers or another form of DAPE has none.
std::optional<PaperValue> paper_value(const TaskLabel& task, const EncodingConfig& encoding);

// The number that the paper prints for a task in the column of this form, 0 .. 1.
std::optional<double> paper_score(std::string_view task, const EncodingForm& column);

// The forms of the columns with the greatest value in the paper's row of `task`, in the paper's order; none
// where the paper has no such row.
std::vector<EncodingForm> paper_best(std::string_view task);

// The tasks of the paper's table, in its order.
struct PaperTask {
  std::string name;
  bool permutation_invariant;  // Marked with a dagger in the table.
};
const std::vector<PaperTask>& paper_tasks();

// What the paper marks permutation-invariant tasks with, a dagger.
inline constexpr const char* kInvariantSign = "\u2020";

}  // namespace che
