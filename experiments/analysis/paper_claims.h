#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/analysis/comparable_rows.h"

namespace che {

// How many of some tasks a statement holds for.
struct ClaimCount {
  std::size_t holds = 0;
  std::size_t tasks = 0;  // That have the scores it is about.
};

// A claim of the DAPE paper (arXiv 2405.14722, section 4) about its Table 2 is counted in its table and in
// ours. A score holds a claim when it is higher, whatever the margin. Claims about DAPE count the tasks that
// the paper does not mark as permutation-invariant, the others every task.
struct PaperClaim {
  std::string text;  // "DAPE with Kerple or FIRE is best", "DAPE improves ALiBi"
  ClaimCount paper;
  ClaimCount here;
};

// Claims in the order of the paper's text. The first one counts the tasks with a score for every column of
// the paper, the others those with a score for both sides. Of scores that are compared at least one must be
// of a cell that trained. All encodings have randomized positions.
std::vector<PaperClaim> count_claims(const std::vector<ComparableRow>& rows, Aggregate aggregate);

}  // namespace che
