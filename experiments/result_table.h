#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config.h"
#include "experiments/results_store.h"
#include "experiments/score_summary.h"
#include "experiments/trivial_baselines.h"

namespace che {

// A stored run as tables and figures see it.
struct TableRun {
  std::string id;
  std::string task;      // Label of its row: the task and its options off default.
  std::string encoding;  // Label of its column.
  RunConfig config;
  RunStatus status;
  std::optional<double> score;            // 0 .. 1, of a finished run
  std::vector<EvaluationRow> evaluation;  // What the score is the mean of, by ascending length.
  std::size_t missing_lengths = 0;        // Test lengths asked for and not measured.
  std::vector<MetricsRow> metrics;        // By ascending step.
};

// Runs that differ in nothing but seed and learning rate.
struct TableCell {
  std::string id;                      // cell_id of their config
  std::vector<std::size_t> finished;   // Indices into ResultTable::runs.
  std::vector<std::size_t> missing;    // Likewise, of runs without a score.
  std::optional<ScoreSummary> scores;  // Nothing without a finished run.
  std::size_t best = 0;                // Index of the run with the highest score, if there is one.
  std::optional<double> paper;         // 0 .. 1, where the paper has this task and encoding.
};

struct TableRow {
  std::string level;                          // "regular", "dcf", "cs"
  std::string task;                           // Its label.
  std::string name;                           // Of the task.
  double chance = 0;                          // 0 .. 1
  std::optional<TrivialBaselines> baselines;  // See add_trivial_baselines.
};

// The results of an experiment: a row a task, a column an encoding.
struct ResultTable {
  std::string name;                    // Of the experiment: its folder's.
  std::vector<TableRow> rows;          // In the benchmark's order.
  std::vector<std::string> encodings;  // Labels of the columns, in the order of encoding_before.
  std::map<std::pair<std::string, std::string>, TableCell> cells;  // By labels of task and encoding.
  std::vector<TableRun> runs;                                      // By row, column, learning rate and seed.
  std::vector<std::string> shared_settings;  // "path=value": off default in every run and in no label.
  bool has_baselines = false;                // Whether they were asked for; see add_trivial_baselines.
  std::vector<std::string> left_out;         // What was said of runs that open_runs left out.

  const TableCell* cell(const std::string& task, const std::string& encoding) const;
};

// What tables call the row and the column of each of `configs`, in their order: task and encoding with
// every setting of `roles` that is off its default or in which the configs differ, so that two cells never
// look alike.
struct CellLabel {
  std::string task;
  std::string encoding;
};
struct CellLabels {
  std::vector<CellLabel> of;
  std::vector<std::string> shared_settings;  // "path=value": off default in every config and in no label.
};
CellLabels label_cells(const std::vector<RunConfig>& configs,
                       const std::vector<Role>& roles = {Role::kCell, Role::kEvaluation});

// Settings (of training or evaluation) in which the runs differ become part of the column's label, so
// that no cell mixes two of them.
ResultTable make_table(const std::vector<RunFolder>& runs);

// Names the damaged files of runs, which `table` counts as unfinished.
void warn_of_damage(const ResultTable& table, const WarningSink& warn = print_warning);

// The table of every run below `experiment`, with warnings of damage. Throws as open_runs does.
ResultTable read_table(const std::filesystem::path& experiment);

// Measures the trivial baselines of every row whose runs are all evaluated on the same samples; takes
// seconds at the paper's size.
void add_trivial_baselines(ResultTable& table);

}  // namespace che
