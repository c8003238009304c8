#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/results/reading_rules.h"
#include "experiments/results/result_table.h"

namespace che {

// These functions apply --score-lengths to the runs of a table.

// Returns the rows that the score of a finished run is the mean of, or none where one is missing.
std::vector<EvaluationRow> scored_rows(const std::vector<EvaluationRow>& rows, const RunConfig& config,
                                       const ReadingRules& rules);

// Returns the lengths that the score of a run would be the mean of.
std::vector<std::int64_t> lengths_asked(const RunConfig& config, const ReadingRules& rules);

// If the runs of some row have different lengths left under the rule, puts the lengths into all column
// labels.
void name_scored_lengths(std::vector<TableRun>& runs);

// Says what the scores are means of, and which of the lengths were measured on samples that do not count.
std::string scored_lengths_note(const std::vector<TableRun>& runs, const LengthChoice& rule);

// The error (usage) of a run with these rows, of which none counts under the rule.
Error no_scored_lengths(const TableRun& run, const std::vector<EvaluationRow>& rows,
                        const LengthChoice& rule);

}  // namespace che
