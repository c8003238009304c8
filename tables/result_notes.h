#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/analysis/paper_claims.h"
#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"

namespace che {

// Whether a run has begun; one that has not is counted, not named.
bool is_begun(const TableRun& run);

// Why a run has no score: "failed: loss is not finite", "training, step 200 of 1000".
std::string missing_reason(const TableRun& run);

// Appends what the rules of reading did, and one note per fact of provenance().
void append_provenance(std::vector<Note>& notes, const ResultTable& table);

// What trivial baselines are, and which rows have none; nothing unless add_trivial_baselines was asked for
// them.
void append_baseline_notes(std::vector<Note>& notes, const ResultTable& table);

// What the paper's values are and which of our columns they stand next to.
Note paper_note();

// What the paper says of its permutation-variant tasks, counted there and here; nothing where no claim can be
// counted here.
void append_claims_note(std::vector<Note>& notes, std::vector<PaperClaim> claims);

// What kUntrainedSign means; `who` did not train: "the run did not reach", "no run of the cell reached".
Note untrained_note(std::string_view who);

// Of the runs that a table counts in a cell those that did not train.
struct UntrainedRuns {
  EncodingLabel encoding;
  TaskLabel task;
  std::size_t runs = 0;
  std::size_t of = 0;
};

// Which cells have runs that trained and runs that did not. Nothing where there are none.
void append_untrained_runs_note(std::vector<Note>& notes, const std::vector<UntrainedRuns>& cells);

// What kInvariantSign means, where a row of `table` has it.
void append_invariant_note(std::vector<Note>& notes, const ResultTable& table);

}  // namespace che
