#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/comparable_rows.h"
#include "experiments/analysis/paper_claims.h"

namespace che {

// A rank correlation of fewer encodings says nothing: that of two is -1 or 1 by construction.
inline constexpr std::size_t kMinRanked = 4;

// How well the order of a task's encodings agrees with the paper's.
struct AgreedTask {
  Level level = Level::kRegular;
  TaskLabel task;
  bool permutation_invariant = false;
  std::size_t encodings = 0;                                     // That are ranked.
  std::vector<std::pair<EncodingLabel, EncodingLabel>> doubles;  // See ComparableRow.
  std::optional<double> correlation;  // With the paper; see spearman; of kMinRanked encodings or more.
  // Where there is a correlation.
  std::optional<double> p;           // See rank_correlation_p.
  std::optional<double> adjusted_p;  // Holm's over all tasks with a p.
  // The same correlation of single seeds, for those that have a score of every ranked encoding; nothing where
  // all scores of a seed tie. A seed's score is the aggregate of its runs.
  std::map<std::int64_t, std::optional<double>> of_seeds;
  // Mean correlation of two such seeds with each other: how well the order repeats.
  std::optional<double> between_seeds;

  // Whether the order of every single seed correlates positively with the paper's; nothing with fewer than
  // two seeds. Unrelated orders of n seeds do with probability 1 / 2^n, or more where the seeds agree.
  std::optional<bool> agrees() const;
};

// The joint test of the order in all tasks, over the encodings that every task with a correlation has.
struct JointAgreement {
  std::size_t encodings = 0;
  double mean = 0;  // The tasks' correlations over these encodings are averaged.
  double p = 1;     // See joint_rank_correlation_p.
};

struct PaperAgreement {
  Aggregate aggregate = Aggregate::kMax;
  std::vector<AgreedTask> tasks;        // Rows of the table, in its order.
  std::size_t ranked = 0;               // Tasks with a correlation.
  std::optional<double> mean;           // This averages these correlations.
  std::optional<JointAgreement> joint;  // There is none for fewer than kMinRanked encodings or two tasks.
  std::vector<PaperClaim> claims;       // See count_claims.
};

// Compares the scores of `table`, one number per cell, with the paper's.
PaperAgreement agree(const ResultTable& table, Aggregate aggregate);

}  // namespace che
