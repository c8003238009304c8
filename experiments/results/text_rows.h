#pragma once

#include <string>
#include <vector>

#include "experiments/results/reading_rules.h"
#include "experiments/results/result_table.h"
#include "experiments/store/run_folder.h"

namespace che {

// The configs that stand for a run in tables: its own or, for a text, one for each test length, because
// perplexities at several lengths have no mean that says anything.
std::vector<RunConfig> row_configs(const RunConfig& config, const std::vector<EvaluationRow>& rows,
                                   const ReadingRules& rules);

// Throws Error (usage) for two corpora of one name with different contents.
void check_corpora(const std::vector<RunFolder>& runs);

// A sentence for each way in which the runs on texts were measured.
std::vector<std::string> text_notes(const std::vector<TableRun>& runs);

}  // namespace che
