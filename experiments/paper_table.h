#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// The column of the paper's table that may show an encoding with this label, among them labels that the
// table does not have; see paper_score.
std::string_view paper_column(std::string_view encoding);

// Accuracy, 0 .. 1, that Table 2 of the DAPE paper (arXiv 2405.14722) gives for a task and an
// encoding as tables label it; nothing where the paper has no number. The paper's heading
// "Randomized" does not show which columns it spans: sin_cos, rope, relative and alibi may have
// been run with contiguous or with randomized positions, so that randomized_rope and rope both get
// the one value printed.
std::optional<double> paper_score(std::string_view task, std::string_view encoding);

// The columns with the greatest value in the paper's row of `task`; none where the paper has no such row.
std::vector<std::string> paper_best(std::string_view task);

}  // namespace che
