#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/result_table.h"

namespace che {

// Below so many encodings a rank correlation says nothing: that of two is -1 or 1 by construction.
inline constexpr std::size_t kFewestRanked = 4;

// How far the encodings of a task stand in the same order here and in the paper's table. Only encodings
// with a score here and a value there count, and of columns that share one value of the paper (rope and
// randomized_rope, or forms of one encoding) the first.
struct AgreedTask {
  std::string level;
  std::string task;
  std::size_t encodings = 0;
  // Labels that do not count because of one that does: pairs of both.
  std::vector<std::pair<std::string, std::string>> doubles;
  std::optional<double> correlation;  // See spearman; of kFewestRanked encodings or more.
  // Where there is a correlation.
  std::optional<double> p;           // See rank_correlation_p.
  std::optional<double> adjusted_p;  // Holm's over all tasks with a p.
};

struct PaperAgreement {
  Aggregate aggregate = Aggregate::kMax;
  std::vector<AgreedTask> tasks;  // Rows of the table, in its order.
  std::size_t ranked = 0;         // Tasks with a correlation.
  std::optional<double> mean;     // Of these correlations.
};

// Compares the scores of `table`, a number a cell, with the paper's.
PaperAgreement agree(const ResultTable& table, Aggregate aggregate);

}  // namespace che
