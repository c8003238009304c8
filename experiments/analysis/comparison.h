#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/permutation.h"
#include "experiments/analysis/result_table.h"

namespace che {

// The runs of an encoding that a comparison counts.
struct ComparedRuns {
  std::size_t counted = 0;
  std::size_t untrained = 0;  // That did not train, see TrainingOutcome.

  // Whether none trained: a difference is one of learning.
  bool did_not_train() const { return counted > 0 && untrained == counted; }
};

// Two encodings on one task, paired over seeds: the most that both finished with one learning rate. The score
// of a seed is its mean over all rates that both finished with all of these seeds, so that pairs are
// independent and differ in nothing but the encoding. Fractions, 0 .. 1.
struct ComparedTask {
  Level level = Level::kRegular;
  TaskLabel task;
  std::optional<std::int64_t> length;  // The only one whose accuracies count; all that are scored without it.
  std::size_t seeds = 0;               // Pairs.
  std::vector<double> rates;  // Learning rates that count, ascending; empty where a rule selected them.
  std::size_t unpaired = 0;   // Finished runs that do not count.
  ComparedRuns one_runs;
  ComparedRuns other_runs;
  // Aggregates over the seeds; nothing without one.
  std::optional<double> one;
  std::optional<double> other;
  std::optional<double> difference;  // Of the seeds' differences, one minus other.
  std::optional<Interval> interval;  // 95 %, of kMinIntervalPairs seeds or more; see bootstrap_interval.
  // Of two seeds or more.
  std::optional<double> p;           // See sign_flip_p.
  std::optional<double> adjusted_p;  // Holm's over all tasks compared, at this length.
  std::optional<double> detectable;  // See detectable_difference.
};

struct Comparison {
  EncodingLabel one;
  EncodingLabel other;
  Aggregate aggregate = Aggregate::kMean;
  std::vector<ComparedTask> tasks;   // Rows of the table that have a run of each, in its order, by length.
  std::vector<TaskLabel> one_sided;  // Rows that have runs of only one of them.
};

// Whether a comparison has one row a task, or one a task and scored test length.
enum class ComparisonRows { kTasks, kLengths };

// Compares two columns of `table`, named as it prints them. Throws Error (usage) for a name that is no
// column, for twice the same, for columns that are evaluated differently, when no seed was run with both, and
// for the maximum, which depends on the number of runs and keeps nothing of the pairs.
Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate, ComparisonRows rows = ComparisonRows::kTasks);

}  // namespace che
