#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/run_filter.h"
#include "experiments/published/paper_table.h"
#include "experiments/published/quoted_scores.h"
#include "experiments/results/reading_rules.h"
#include "experiments/results/training_outcome.h"
#include "experiments/results/trivial_baselines.h"
#include "experiments/statistics/score_summary.h"
#include "experiments/store/run_folder.h"
#include "tasks/task.h"
#include "workloads/metric.h"
#include "workloads/workload.h"

namespace che {

// These rows were recorded while a run trained.
struct TrainingRows {
  StepRows at_steps = {};                // Measured during training; unfinished runs have them, too.
  std::vector<MetricsRow> metrics = {};  // By ascending step.
};

// A stored run as tables and figures see it.
struct TableRun {
  std::string id;
  TaskLabel task = {};          // Its row.
  EncodingLabel encoding = {};  // Its column.
  RunConfig config;
  RunStatus status;
  Metric metric = {};                          // The score is in this metric.
  std::optional<double> score = {};            // Only a finished run has one.
  std::optional<double> score_error = {};      // Its standard error; see mean_error().
  std::vector<EvaluationRow> evaluation = {};  // The score is the mean of these rows, by ascending length.
  // The lengths of `evaluation`; without a score, the lengths that a score would be the mean of.
  std::vector<std::int64_t> scored_lengths = {};
  std::vector<EvaluationRow> measured =
      {};  // Every test length of a finished run, those of `che evaluate` too.
  // One folder may stand for thousands of these runs. They share what it recorded.
  std::shared_ptr<const TrainingRows> training_rows = std::make_shared<TrainingRows>();
  std::size_t missing_lengths = 0;  // Test lengths that the config has and that are not measured.
  std::string damage = {};          // Says which files are damaged; empty without damage.
  std::size_t experiment = 0;       // Index of the folder that holds it, among those that were read.
  std::optional<TrainingOutcome> training = {};

  const StepRows& at_steps() const { return training_rows->at_steps; }
  const std::vector<MetricsRow>& metrics() const { return training_rows->metrics; }
  bool is_finished() const { return damage.empty() && status.state == RunState::kFinished; }
  std::string state() const { return damage.empty() ? state_name(status.state) : kDamaged; }
  // Says why it failed or what is damaged; empty for neither.
  const std::string& error() const { return damage.empty() ? status.error : damage; }
};

// The seeds that one repetition of a run is drawn from. Runs are paired by them.
struct Draw {
  std::int64_t seed = 0;
  std::int64_t data_seed = 0;
  std::int64_t evaluation_seed = 0;

  auto operator<=>(const Draw&) const = default;
};
inline Draw draw_of(const RunConfig& config) {
  return {.seed = config.seed, .data_seed = config.data_seed, .evaluation_seed = config.evaluation.seed};
}
using Repetition = std::pair<Draw, double>;  // With the learning rate.
// Whether these repetitions are independent, given what all of them share: all have one seed or each has its
// own, and so for data_seed. Those that share an evaluation seed share the error of the test samples alone.
bool are_independent(const std::set<Draw>& draws);

// Runs that differ in nothing but their draw and learning rate.
struct TableCell {
  std::string id;                      // cell_id of their config.
  std::vector<std::size_t> finished;   // Indices of the runs with a score, in ResultTable::runs.
  std::vector<std::size_t> missing;    // Indices of the runs without a score.
  std::optional<ScoreSummary> scores;  // Present with a finished run.
  std::size_t best = 0;                // Index of the best run; one that trained, or may have, wins a tie.
  // Numbers of finished runs that trained and that did not (see TrainingOutcome). Some may be in neither.
  std::size_t trained = 0;
  std::size_t untrained = 0;
  // The paper's value for an encoder's task; of a text, see add_paper_perplexities.
  std::optional<PaperValue> paper;

  std::optional<bool> best_trained;  // Whether the run `best` trained, if it is known.
  std::optional<double> best_error;  // Standard error of its score from the test samples.
  std::optional<double> mean_error;  // Standard error of the mean over the finished runs.

  // True if the runs behind the number did not train, so that it says nothing about extrapolation. The runs
  // with the maximum count for the maximum, every finished run for other aggregates.
  bool did_not_train(Aggregate aggregate) const {
    if (aggregate == Aggregate::kMax) return best_trained == false;
    return !finished.empty() && untrained == finished.size();
  }
  // Whether what did_not_train() says rests on training metrics.
  bool is_training_known(Aggregate aggregate) const {
    if (aggregate == Aggregate::kMax) return best_trained.has_value();
    return trained > 0 || (!finished.empty() && untrained == finished.size());
  }
  // Returns the standard error of the number from the test samples, if it is known. A median and an
  // interquartile mean get the error of the mean.
  std::optional<double> score_error(Aggregate aggregate) const {
    return aggregate == Aggregate::kMax ? best_error : mean_error;
  }
};

struct TableRow {
  Level level = Level::kRegular;
  TaskLabel task;
  Metric metric = {};  // The scores are in this metric.
  // The workload of one run; it is null where scores are no accuracies.
  std::shared_ptr<const Workload> workload = {};
  // At the scored lengths; none without a workload, and where those of some run have another chance.
  std::optional<double> chance = {};
  bool permutation_invariant = false;              // See TaskEntry.
  std::vector<SettingValue> settings = {};         // See CellLabels::of_task.
  std::optional<TrivialBaselines> baselines = {};  // See add_trivial_baselines.
  std::vector<double> ngram_losses = {};           // In nats; see add_ngrams.

  // Returns the accuracy of guessing, 0 .. 1, mean over these lengths; nothing without a workload.
  std::optional<double> chance_at(const std::vector<std::int64_t>& lengths) const {
    return workload == nullptr ? std::nullopt : workload->chance(lengths);
  }
};

// The results of an experiment: one row per task, one column per encoding.
struct ResultTable {
  std::string name;                      // The experiment's folder; several are joined by " + ".
  std::vector<TableRow> rows;            // In the benchmark's order.
  std::vector<EncodingLabel> encodings;  // The columns, in the order of encoding_before.
  std::map<CellKey, TableCell> cells;
  std::vector<TableRun> runs;  // By row, column, learning rate and seed.
  // Settings that differ from their defaults in every run and are in no label.
  std::vector<SettingValue> shared_settings;
  std::set<std::string> paper_gaps;        // See add_paper_perplexities.
  bool has_baselines = false;              // Tables show the baselines; see add_trivial_baselines.
  bool has_ngrams = false;                 // They show those of texts; see add_ngrams.
  std::optional<SelectionRule> select;     // The rule that chose one learning rate for each cell.
  std::vector<std::string> left_out;       // Says why read_table left runs out.
  std::vector<QuotedScore> quoted;         // Read from the folders; see read_table.
  std::vector<std::string> reading_notes;  // Sentences that say how the reading rules were applied.
  std::string score_lengths;               // As ReadingRules have them; empty for those of each config.
  RunConditions conditions;                // The runs were chosen by these; see RunChoice.
  std::vector<EncodingLabel> not_chosen;   // Columns of which that choice leaves nothing.

  // Runs are paired by this. Its rate is 0 where a rule chose the rate of each cell, and pairs may have two.
  Repetition repetition(const TableRun& run) const {
    return {draw_of(run.config), select ? 0 : run.config.learning_rate};
  }
  const TableRow& row(const TaskLabel& task) const;
  // Null where no run has both.
  const TableCell* cell(const TaskLabel& task, const EncodingLabel& encoding) const;

  // The members of `runs` by stored run, in the order of the table. A run on a text has one a test length,
  // any run one for each of the settings that `che evaluate --set` gave it.
  std::vector<std::vector<const TableRun*>> by_stored_run() const;
};

// Says which of several folders holds each run.
struct RunOrigins {
  std::map<std::filesystem::path, std::size_t> folder_of;  // Index of the folder by the run's path.
  std::vector<std::string> entries;  // Names of the folders if they are entries; see read_table.
};

// Makes a table of stored runs. Settings of training or evaluation in which the runs differ become part of
// the column's label, so that no cell mixes two of them. Throws Error (usage), as read_table does, for runs
// of two versions of a task, and for runs that lack data that the rules read.
ResultTable make_table(const std::vector<RunFolder>& runs, const ReadingRules& rules = {},
                       const RunOrigins& origins = {});

// Keeps in each cell (runs with one task and encoding label) the runs of the learning rate whose mean over
// the repetitions is the best, or the lowest such rate. A cell of one rate stays as it is. Returns a
// sentence that names the rule and the rates. Throws Error (usage) for a run that is not finished or lacks
// the data that the rule reads.
std::string select_rates(std::vector<TableRun>& runs, SelectionRule rule);

// Returns the aggregate that tables show by default: the mean where a rule selected the learning rates, else
// the maximum, as the CHE papers report it.
inline Aggregate default_aggregate(const ResultTable& table) {
  return table.select ? Aggregate::kMean : Aggregate::kMax;
}

// Sets TableCell::paper of decoders on a text whose corpus.json, which is read now, names one of the paper's,
// in the rows of the paper's training and test lengths. Adds a sentence to `paper_gaps` for each text without
// a value that says why.
void add_paper_perplexities(ResultTable& table);

// Whether the best scores of a table are its lowest, as those of perplexities are.
bool is_lowest_best(const ResultTable& table);

// Returns the aggregate as a phrase for sentences: "the maximum", where lower is better "the minimum".
std::string_view aggregate_phrase(const ResultTable& table, Aggregate aggregate);

// Tables show the trivial baselines, or use them only to decide which scores get a mark.
enum class BaselineUse { kShown, kMarks };

// Measures the trivial baselines of every row of accuracies whose runs are all evaluated at the same lengths
// with as many samples. Where evaluation seeds differ, the samples are those of the first run. For marks
// alone, 20 of more than 20 lengths are sampled: the paper's 460 take seconds a task.
void add_trivial_baselines(ResultTable& table, BaselineUse use = BaselineUse::kShown);

// Returns whether the runs of these cells are evaluated alike. They then have the same scored lengths,
// samples and eval_dropout, of a text the same part, protocol and windows, and the same set of evaluation
// seeds, of which each repetition may have one. Other scores cannot be compared.
bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

// Returns it for runs that are paired over their evaluation seeds, whose sets may then differ.
bool are_pairs_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells);

}  // namespace che
