#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// The tables of the DAPE paper (arXiv 2405.14722) that stand beside ours, by their numbers.
enum class PaperTable : std::uint8_t { kTasks = 2, kArxiv = 5, kBooks3 = 6, kBooks3Variants = 7 };

// One value of such a table.
struct PaperValue {
  EncodingForm column;  // The method as we name it: randomized_rope, randomized_dape_kerple.
  double score = 0;     // Accuracy, 0 .. 1, or perplexity.
  // Whether our encoding has randomized positions as well, so that like is compared with like.
  bool is_comparable = true;
  PaperTable table = PaperTable::kTasks;
  std::optional<double> deviation = {};  // Over the paper's runs, where it prints one.

  bool operator==(const PaperValue&) const = default;
};

// A column of Table 2, in its order. Its header says "Randomized" over seven columns and nothing of
// the positions of DAPE's three. We read these as randomized, too; docs/deviations.md has the evidence.
struct PaperColumn {
  EncodingForm form;    // randomized_rope, randomized_dape_kerple
  std::string heading;  // The paper prints this above it: "Randomized" or "DAPE (Ours)".
};
const std::vector<PaperColumn>& paper_columns();

// Whether the encoding has the numbers and the formula of `published`, and DAPE, if present, its form. Other
// choices, which the paper does not state, may differ.
bool has_numbers_of(const EncodingConfig& encoding, const EncodingConfig& published);

// Returns the paper's value for a task and an encoding of ours, if it has one. The paper does not state how
// it reads `direction`, `randomized_distance` and similar choices, so every choice has the value. An encoding
// with other numbers or another form of DAPE has none.
std::optional<PaperValue> paper_value(const TaskLabel& task, const EncodingConfig& encoding);

// Returns the number that the paper prints for a task in the column of this form, 0 .. 1.
std::optional<double> paper_score(std::string_view task, const EncodingForm& column);

// Returns the forms of the columns with the greatest value in the paper's row of `task`, in the paper's
// order, or none if the paper has no such row.
std::vector<EncodingForm> paper_best(std::string_view task);

// The tasks of the paper's table, in its order.
struct PaperTask {
  std::string name;
  bool permutation_invariant;  // Marked with a dagger in the table.
};
const std::vector<PaperTask>& paper_tasks();

// The dagger that the paper marks permutation-invariant tasks with.
inline constexpr const char* kInvariantSign = "\u2020";

// The number of tasks that a claim holds for, of those that have the scores it is about.
struct ClaimCount {
  std::size_t holds = 0;
  std::size_t tasks = 0;
};

// A claim of the DAPE paper (arXiv 2405.14722, section 4) about its Table 2, counted in its table and in
// ours. A claim holds where a score is higher, whatever the margin. Claims about DAPE count the tasks that
// the paper does not mark as permutation-invariant, the others count every task.
struct PaperClaim {
  std::string text;  // "DAPE with Kerple or FIRE is best", "DAPE improves ALiBi"
  ClaimCount paper;
  ClaimCount here;
};

struct ClaimScore {
  double value = 0;     // 0 .. 1
  bool trained = true;  // False if the model did not train.
};

// Our scores for a task of the paper, by the paper's column.
struct ClaimRow {
  bool permutation_invariant = false;
  std::map<EncodingForm, ClaimScore> scores;
};

// Counts the claims, in the order of the paper's text. The first one counts the tasks with a score for every
// column, the others those with a score for both sides. At least one of the compared models must have
// trained. All encodings have randomized positions.
std::vector<PaperClaim> count_claims(const std::vector<ClaimRow>& rows);

}  // namespace che
