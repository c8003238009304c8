#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

struct ComparableCell {
  EncodingLabel encoding;  // Our column.
  const TableCell* cell = nullptr;
};

// Orders forms by their texts.
struct ByText {
  bool operator()(const EncodingForm& one, const EncodingForm& other) const {
    return one.text() < other.text();
  }
};

// The cells of one row that have a counterpart in the paper. If several of our columns share one value of the
// paper (settings of one encoding), the first counts. Encodings with other positions than the paper's never
// do, and texts have none.
struct ComparableRow {
  const TableRow* row = nullptr;
  std::map<EncodingForm, ComparableCell, ByText> cells;  // Cells with a score, by the paper's column.
  bool measured_alike = true;  // See are_measured_alike(). If false, `cells` is empty: they cannot be ranked.
  // Pairs of a label that does not count and the label that counts instead.
  std::vector<std::pair<EncodingLabel, EncodingLabel>> doubles;
};

// Returns one per row of `table`, in its order. They point into the table.
std::vector<ComparableRow> comparable_rows(const ResultTable& table);

// Counts the paper's claims in these rows.
std::vector<PaperClaim> count_claims(const std::vector<ComparableRow>& rows, Aggregate aggregate);

// A rank correlation of fewer encodings says nothing: that of two is -1 or 1 by construction.
inline constexpr std::size_t kMinRanked = 4;

// How well the order of a task's encodings agrees with the paper's.
struct AgreedTask {
  Level level = Level::kRegular;
  TaskLabel task;
  bool permutation_invariant = false;
  std::size_t encodings = 0;                                     // Number of encodings that are ranked.
  std::vector<std::pair<EncodingLabel, EncodingLabel>> doubles;  // See ComparableRow.
  bool measured_alike = true;                                    // See ComparableRow.
  std::optional<double> correlation;  // With the paper, from kMinRanked encodings on; see spearman.
  std::optional<double> p;            // See rank_correlation_p.
  std::optional<double> adjusted_p;   // Adjusted by Holm's method over all tasks with a p.
  // That correlation for each seed with a score of every ranked encoding, or nothing if all its scores tie. A
  // seed's score is the aggregate of its runs.
  std::map<std::int64_t, std::optional<double>> of_seeds;
  // Mean correlation of two such seeds with each other: how well the order repeats.
  std::optional<double> between_seeds;

  // True if the order of every single seed correlates positively with the paper's. Returns nothing with fewer
  // than two seeds. Unrelated orders of n seeds do so with probability 1 / 2^n, or more where seeds agree.
  std::optional<bool> agrees() const;
};

// The joint test of the order in all tasks, over the encodings that every task with a correlation has.
struct JointAgreement {
  std::size_t encodings = 0;
  double mean = 0;  // The tasks' correlations over these encodings are averaged.
  double p = 1;     // See rank_correlation_p.
  // Tasks with a correlation in which these encodings all tie, here or in the paper.
  std::vector<TaskLabel> tied;
};

struct PaperAgreement {
  Aggregate aggregate = Aggregate::kMax;
  std::vector<AgreedTask> tasks;        // One per row of the table.
  std::size_t ranked = 0;               // Tasks with a correlation.
  std::optional<double> mean;           // Mean of these correlations.
  std::optional<JointAgreement> joint;  // There is none for fewer than kMinRanked encodings or two tasks.
  std::vector<PaperClaim> claims;       // See count_claims.
};

// Compares the scores of `table`, one number per cell, with the paper's.
PaperAgreement agree(const ResultTable& table, Aggregate aggregate);

}  // namespace che
