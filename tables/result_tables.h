#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/results/comparison.h"
#include "experiments/results/paper_agreement.h"
#include "experiments/results/result_table.h"
#include "experiments/results/step_times.h"
#include "tables/formats/table.h"

namespace che {

// Which of the paper's values stand next to ours.
enum class PaperValues {
  kNone,
  kComparable,  // Those of the same method, as far as the paper says.
  kAll,         // Also those of other positions, marked with kOtherMethodSign.
};

struct ScoreTableOptions {
  Aggregate aggregate = Aggregate::kMax;
  PaperValues paper = PaperValues::kNone;  // In parentheses.
  bool difference = false;                 // Ours minus the paper's comparable value, in parentheses too.
  bool spread = false;                     // See ScoreSummary::spread.
  bool quoted = false;                     // Columns of the scores that the folders quote.
  // Where the scores of a row and column, both from 0, lead; nowhere unless given.
  std::function<std::string(std::size_t row, std::size_t column)> link = {};
};

// One row per task and one column per encoding, grouped by level: in percent, as people read it; unrounded
// fractions and one row per cell, as programs do. Trivial baselines are columns of their own where the
// rows have them.
Table score_table(const ResultTable& table, const ScoreTableOptions& options = {});

struct RunTableOptions {
  // The experiments' folders, for formats with links; empty for no links.
  std::vector<std::string> urls = {};
  bool reasons = true;  // Footnotes that say why runs have no score.
};

// One row per run, finished or not. Loss and accuracy in training are those of the last row of metrics.csv.
// With links, an encoding leads to the run's folder, a loss to its metrics.csv, a score to its
// evaluation.csv.
Table run_table(const ResultTable& table, const RunTableOptions& options = {});

// One row per finished run and measured test length, further lengths of `che evaluate` included. As data,
// every setting in which the runs differ is a column of its own, headed by its key path.
Table length_table(const ResultTable& table);

// One row per task, encoding and step of training at which some run was measured, with the mean score of
// these runs. The steps are those that evaluation.at_steps names, and the last one.
Table step_table(const ResultTable& table);

// One row per task, or per task and length; `table` is what was compared, for the notes.
Table comparison_table(const Comparison& comparison, const ResultTable& table);

// Builds the table of one column against all others. The rows of a task stand together.
Table comparison_table(const ComparedWithAll& compared, const ResultTable& table);

// One row per task; `table` is where the agreement comes from, with trivial baselines.
Table agreement_table(const PaperAgreement& agreement, const ResultTable& table);

// Returns the table of step times in one of table_formats(). Each task has a row for each encoding, with
// milliseconds per training step by training lengths and per batch of kEvaluationBatch test samples by test
// lengths. Each number is followed by its ratio to the encoding that tables call `base`. Where `base` is
// empty, it is the ratio to the first of dape_kerple or, without one, to the first row. A number is the
// median over a cell's runs. csv and json have one row per task, measurement, encoding and lengths. Throws
// Error (usage) when no run has the `base` that is named.
std::string time_table(const StepTimes& times, const std::string& base, std::string_view format = "md",
                       const TerminalStyle& style = {});

// Returns the scores that the folders of `table` quote, one row per score, marked as quoted. It stands apart
// from the measured scores and is never ranked with them.
Table quoted_table(const ResultTable& table);

}  // namespace che
