#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/paper_table.h"
#include "experiments/analysis/quoted_scores.h"
#include "experiments/analysis/reading_rules.h"
#include "experiments/analysis/score_summary.h"
#include "experiments/analysis/training_outcome.h"
#include "experiments/analysis/trivial_baselines.h"
#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"
#include "tasks/task.h"

namespace che {

// A stored run as tables and figures see it.
struct TableRun {
  std::string id;
  TaskLabel task;          // Of its row.
  EncodingLabel encoding;  // Of its column.
  RunConfig config;
  RunStatus status;
  std::optional<double> score;            // 0 .. 1, of a finished run
  std::optional<double> score_error;      // Its standard error; see mean_accuracy_error().
  std::vector<EvaluationRow> evaluation;  // What the score is the mean of, by ascending length.
  // The lengths of `evaluation`; of a run without a score, those that it would be the mean of.
  std::vector<std::int64_t> scored_lengths;
  std::vector<EvaluationRow> measured;  // Every test length of a finished run, those of `che evaluate` too.
  StepRows at_steps;                    // These were measured on the way; unfinished runs have them, too.
  std::size_t missing_lengths = 0;      // Test lengths asked for and not measured.
  std::vector<MetricsRow> metrics;      // By ascending step.
  std::string damage;                   // Says what is wrong with its files; empty without damage.
  std::size_t experiment = 0;           // Which of those that were read holds it.
  std::optional<TrainingOutcome> training;

  std::string state() const { return damage.empty() ? state_name(status.state) : kDamaged; }
  // Why it failed or what is damaged; empty for neither.
  const std::string& error() const { return damage.empty() ? status.error : damage; }
};

// What one repetition of a run is drawn from. Runs are paired by it.
struct Draw {
  std::int64_t seed = 0;
  std::int64_t data_seed = 0;
  std::int64_t evaluation_seed = 0;

  auto operator<=>(const Draw&) const = default;
};
inline Draw draw_of(const RunConfig& config) {
  return {.seed = config.seed, .data_seed = config.data_seed, .evaluation_seed = config.evaluation.seed};
}

// Runs that differ in nothing but their draw and learning rate.
struct TableCell {
  std::string id;                      // cell_id of their config
  std::vector<std::size_t> finished;   // Indices into ResultTable::runs.
  std::vector<std::size_t> missing;    // The same for runs without a score.
  std::optional<ScoreSummary> scores;  // Nothing without a finished run.
  std::size_t best = 0;                // Index of the run with the highest score, if there is one.
  // Finished runs that trained and that did not, see TrainingOutcome; nothing is known of the others.
  std::size_t trained = 0;
  std::size_t untrained = 0;
  std::optional<PaperValue> paper;  // Where the paper has this task and encoding.

  bool best_trained = true;          // Whether the run `best` did, or nothing is known of it.
  std::optional<double> best_error;  // Its standard error from the samples.
  std::optional<double> mean_error;  // That of the mean over the finished runs.

  // Whether what the number stands for did not train, so that it says nothing of extrapolation: for the
  // maximum the run that has it, else every finished run.
  bool did_not_train(Aggregate aggregate) const {
    if (aggregate == Aggregate::kMax) return !finished.empty() && !best_trained;
    return !finished.empty() && untrained == finished.size();
  }
  // The standard error of the number from the test samples of its runs; nothing where it is unknown. That of
  // a median or an interquartile mean is taken for the mean's.
  std::optional<double> score_error(Aggregate aggregate) const {
    return aggregate == Aggregate::kMax ? best_error : mean_error;
  }
};

struct TableRow {
  Level level = Level::kRegular;
  TaskLabel task;
  double chance = 0;                          // 0 .. 1
  bool permutation_invariant = false;         // See TaskEntry.
  std::vector<SettingValue> settings;         // See CellLabels::of_task.
  std::optional<TrivialBaselines> baselines;  // See add_trivial_baselines.
};

// The results of an experiment: one row per task, one column per encoding.
struct ResultTable {
  std::string name;                      // Of the experiment: its folder's; of several, joined by " + ".
  std::vector<TableRow> rows;            // In the benchmark's order.
  std::vector<EncodingLabel> encodings;  // Labels of the columns, in the order of encoding_before.
  std::map<CellKey, TableCell> cells;
  std::vector<TableRun> runs;  // By row, column, learning rate and seed.
  std::vector<SettingValue>
      shared_settings;          // That differ from the defaults in every run and are in no label.
  bool has_baselines = false;   // Whether tables show them; see add_trivial_baselines.
  bool rates_selected = false;  // Whether each cell has the runs of one learning rate that a rule chose.
  std::vector<std::string> left_out;       // Why open_runs left runs out.
  std::vector<QuotedScore> quoted;         // See read_entries.
  std::vector<std::string> reading_notes;  // Sentences that say how the rules of reading were applied.
  std::vector<std::string> conditions;     // The runs were chosen by these; see RunChoice.
  std::vector<EncodingLabel> not_chosen;   // Columns of which that choice leaves nothing.

  // Of a run's task.
  const TableRow& row(const TaskLabel& task) const;
  // Null where no run has both.
  const TableCell* cell(const TaskLabel& task, const EncodingLabel& encoding) const;
};

// Settings (of training or evaluation) in which the runs differ become part of the column's label, so
// that no cell mixes two of them. Throws Error (usage), as all readers of tables do, for runs of two versions
// of a task, and for runs that lack what the rules read.
ResultTable make_table(const std::vector<RunFolder>& runs, const ReadingRules& rules = {});

// Names the damaged files of runs, which `table` counts as unfinished.
void warn_of_damage(const ResultTable& table, const WarningSink& warn = print_warning);

// The table of the chosen runs below all of these experiments, with warnings of damage. A run that two of
// them hold is read from the first and left out, with a warning, of the second. Throws as open_runs and
// RunChoice::of and make_table do.
ResultTable read_table(const std::vector<std::filesystem::path>& experiments, const RunChoice& choice = {},
                       const ReadingRules& rules = {});
// The same of results folders of several authors: a column that more than one of them has names the entry, so
// that repetitions by others stand next to each other and are not mixed, and what they quote is in `quoted`.
// Warns of folders that hold neither runs nor quoted scores. Throws Error (usage) when none holds runs.
ResultTable read_entries(const std::vector<std::filesystem::path>& entries, const RunChoice& choice = {},
                         const ReadingRules& rules = {});

// As read_table of several, of one.
ResultTable read_table(const std::filesystem::path& experiment, const RunChoice& choice = {},
                       const ReadingRules& rules = {});

// Returns the aggregate that tables show unless one is asked for: the mean where a rule selected the learning
// rates, else the maximum, as the CHE papers report it.
inline Aggregate default_aggregate(const ResultTable& table) {
  return table.rates_selected ? Aggregate::kMean : Aggregate::kMax;
}

// Whether tables show the trivial baselines, or only use them to tell which scores are worth a mark.
enum class BaselineUse { kShown, kMarks };

// Measures the trivial baselines of every row whose runs are all evaluated at the same lengths with as many
// samples; where evaluation seeds differ, on the samples of the first run's. For marks alone, of more than 20
// lengths 20 are sampled: all of the paper's 460 take seconds a task.
void add_trivial_baselines(ResultTable& table, BaselineUse use = BaselineUse::kShown);

}  // namespace che
