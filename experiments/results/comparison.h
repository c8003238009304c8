#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/result_table.h"
#include "experiments/statistics/permutation_tests.h"

namespace che {

// Counts the runs of an encoding in a comparison.
struct ComparedRuns {
  std::size_t counted = 0;
  std::size_t untrained = 0;  // Those that did not train; see TrainingOutcome.

  // True if no run trained, so that a difference is one of learning.
  bool did_not_train() const { return counted > 0 && untrained == counted; }
};

// Tests need sums of squares of scores, which are infinite for perplexities from about here on.
inline constexpr double kHugeScore = 1e150;

// Two encodings on one task, paired over the seeds that both finished with one learning rate, as many as
// possible. The score of a seed is its mean over all rates that both finished with all these seeds. So pairs
// are independent and differ in nothing but the encoding. Where one of the two is a model outside che, seeds
// of equal numbers share nothing. Then the groups are not paired, and each side has seeds and rates of its
// own. Scores are fractions, 0 .. 1.
struct ComparedTask {
  Level level = Level::kRegular;
  TaskLabel task;
  Metric metric;                       // The scores are in this metric.
  std::optional<std::int64_t> length;  // The only length that counts; without it, all scored lengths count.
  bool paired = true;
  // Pairs where windows are compared; a document of several windows counts once where enough of them are
  // documents. 0 where seeds are compared.
  std::size_t windows = 0;
  std::size_t documents = 0;    // Those that the windows are of.
  std::size_t seeds = 0;        // Pairs, or the repetitions of `one`
  std::size_t other_seeds = 0;  // and of `other`.
  bool share_seeds = false;     // Some are not independent; see are_independent. There is no test then,
  bool has_huge = false;        // nor where a score is kHugeScore or more.
  std::vector<double> rates;    // Learning rates that count, ascending; empty where a rule selected them.
  std::size_t unpaired = 0;     // Finished runs that do not count.
  ComparedRuns one_runs;
  ComparedRuns other_runs;
  // Aggregates over the seeds, if there are any.
  std::optional<double> one;
  std::optional<double> other;
  // Aggregate of the seeds' differences, one minus other; without pairs the difference of the aggregates.
  std::optional<double> difference;
  std::optional<Interval> interval;  // 95 %, from kMinIntervalPairs seeds on; see bootstrap_interval.
  // Present with two seeds or more on each side.
  std::optional<double> p;           // See sign_flip_p, and relabelling_p where there are no pairs.
  std::optional<double> adjusted_p;  // Adjusted by Holm's method over all tasks, at this length.
  std::optional<double> detectable;  // See detectable_difference.
};

// A comparison pairs seeds, windows or documents. A seed has its score. A window of a text has its loss in
// nats, the mean over all seeds and rates that both columns finished. From kMinIntervalPairs documents on, a
// document has the mean over its windows. Windows say how these trained models differ on this text, seeds how
// other trainings would.
enum class ComparisonUnit : std::uint8_t { kSeed, kWindow };

struct Comparison {
  EncodingLabel one;
  EncodingLabel other;
  Aggregate aggregate = Aggregate::kMean;
  ComparisonUnit unit = ComparisonUnit::kSeed;
  bool paired = true;
  std::vector<ComparedTask> tasks = {};   // Rows of the table with runs of both, in its order, by length.
  std::vector<TaskLabel> one_sided = {};  // Rows with runs of only one.
};

// A comparison has one row per task, or one per task and scored test length.
enum class ComparisonRows { kTasks, kLengths };

// Compares two columns of `table`, named as it prints them. Throws Error (usage) for an unknown or repeated
// name, for columns that are evaluated differently, and when no seed was run with both. Throws it for the
// maximum too, which depends on the number of runs and ignores the pairs. Windows are compared on texts only,
// and where the runs have the same ones stored.
Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate, ComparisonRows rows = ComparisonRows::kTasks,
                   ComparisonUnit unit = ComparisonUnit::kSeed);

// One column against every other, p-values adjusted over all rows of all of them.
struct ComparedWithAll {
  std::vector<Comparison> comparisons;
  std::vector<std::string> left_out;  // Columns that cannot be compared with it, and why.
};

// Throws Error (usage) as compare does, and where no column can be compared.
ComparedWithAll compare_with_all(const ResultTable& table, const std::string& name, Aggregate aggregate,
                                 ComparisonUnit unit = ComparisonUnit::kSeed);

}  // namespace che
