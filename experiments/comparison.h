#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/paired_test.h"
#include "experiments/result_table.h"

namespace che {

// Two encodings on one task, paired over seeds. The score of a seed is its mean over the learning
// rates that both encodings finished with it, so that pairs are independent. Fractions, 0 .. 1.
struct ComparedTask {
  std::string level;
  std::string task;
  std::size_t seeds = 0;     // Pairs.
  std::size_t unpaired = 0;  // Finished runs without a counterpart.
  // Aggregates over the seeds; nothing without one.
  std::optional<double> one;
  std::optional<double> other;
  std::optional<double> difference;  // Of the seeds' differences, one minus other.
  std::optional<Interval> interval;  // 95 %, of kFewestIntervalPairs seeds or more; see bootstrap_interval.
  // Of two seeds or more.
  std::optional<double> p;           // See sign_flip_p.
  std::optional<double> adjusted_p;  // Holm's over all tasks compared.
};

struct Comparison {
  std::string one;
  std::string other;
  Aggregate aggregate = Aggregate::kMean;
  std::vector<ComparedTask> tasks;  // Rows of the table that have a run of each, in its order.
};

// Compares two columns of `table`. Throws Error (usage) for a label that is no column, for twice the
// same, when no seed was run with both, and for the maximum, which depends on the number of runs and
// keeps nothing of the pairs.
Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate);

}  // namespace che
