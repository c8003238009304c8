#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/results/paper_agreement.h"
#include "experiments/results/result_table.h"
#include "tables/formats/table.h"
#include "tables/result_tables.h"

namespace che {

// Appends a note with this text, which fmt::format fills in.
template <class... Values>
void add_note(std::vector<Note>& notes, NoteKind kind, fmt::format_string<Values...> text,
              Values&&... values) {
  notes.push_back({kind, fmt::format(text, std::forward<Values>(values)...)});
}

struct PlacedCell {
  const TableRow* row;
  const EncodingLabel* encoding;
  const TableCell* cell;
};

// Returns the cells of `table` by row and column.
std::vector<PlacedCell> cells_by_row(const ResultTable& table);

// Tables name runs that have begun, and count the others.
bool is_begun(const TableRun& run);

// Says why a run has no score: "failed: loss is not finite", "training, step 200 of 1000".
std::string missing_reason(const TableRun& run);

// Appends notes on the reading rules, and one note per fact of provenance().
void append_provenance(std::vector<Note>& notes, const ResultTable& table);

// Returns the names of the baselines that a table shows, those of tasks, of texts, or both.
std::vector<std::string> baseline_columns(const ResultTable& table);
// Returns the value of each of them in a row.
std::vector<std::optional<double>> baseline_values(const ResultTable& table, const TableRow& row);

// Explains the baselines, if the table shows them, and names the rows without.
void append_baseline_notes(std::vector<Note>& notes, const ResultTable& table);

// Says where the values of these tables of the paper come from.
void append_paper_note(std::vector<Note>& notes, const std::set<PaperTable>& tables);

// Counts the paper's claims there and here, if any can be counted here. Below scores, where they are not the
// subject, they are of kind kMethod.
void append_claims_note(std::vector<Note>& notes, std::vector<PaperClaim> claims, NoteKind kind);

// Explains kUntrainedSign. `who` is "the run did not reach" or "no run of the cell reached".
void append_untrained_note(std::vector<Note>& notes, std::string_view who);

// Says why there is no test of repetitions that are not independent; see are_independent.
void append_shared_seeds_note(std::vector<Note>& notes, bool share_seeds);

// A cell in which only some of the counted runs trained.
struct PartlyTrainedCell {
  EncodingLabel encoding;
  TaskLabel task;
  std::size_t untrained = 0;
  std::size_t counted = 0;
};

// Names these cells, if there are any.
void append_partly_trained_note(std::vector<Note>& notes, const std::vector<PartlyTrainedCell>& cells);

// Names the cells of tasks whose scores count answers of logits that were no numbers.
void append_no_numbers_note(std::vector<Note>& notes, const ResultTable& table);

// Counts the runs of tasks that che trained and of whose training nothing is known.
void append_unknown_training_note(std::vector<Note>& notes, const ResultTable& table);

// Warns where this aggregate compares cells of a row with unequal numbers of runs, or unequal learning rates.
void append_unequal_runs_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate);
// Warns where maxima of rows, whose cells have as many runs each, are over unequal numbers of them.
void append_unequal_rows_note(std::vector<Note>& notes, const ResultTable& table);

// Explains kInvariantSign, if a row of `table` has it.
void append_invariant_note(std::vector<Note>& notes, const ResultTable& table);

// True if the cell shows the paper's value.
bool shows_paper(const TableCell& cell, PaperValues values);

// The notes of score_table for people, and for programs.
std::vector<Note> score_notes(const ResultTable& table, const ScoreTableOptions& options);
std::vector<Note> score_data_notes(const ResultTable& table, const ScoreTableOptions& options);

}  // namespace che
