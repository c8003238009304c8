#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "experiments/results/reading_rules.h"
#include "experiments/results/result_table.h"
#include "experiments/store/run_folder.h"

namespace che {

// Returns the configs that stand for a run on a text in tables: one for each test length and for each way in
// which `che evaluate` measured it, because the mean of perplexities at several lengths means nothing.
std::vector<RunConfig> text_configs(const RunConfig& config, const std::vector<EvaluationRow>& rows,
                                    const ReadingRules& rules);

// Throws Error (usage) for two corpora of one name with different contents.
void check_corpora(const std::vector<RunFolder>& runs);

// The orders of the n-grams that tables show beside models of texts.
inline constexpr std::array<std::size_t, 2> kNgramOrders = {0, 5};

// Measures them (see Ngrams) for every row of a text whose runs are all measured on the same windows, on
// these windows. Throws Error (usage) where the corpus is missing or another one.
void add_ngrams(ResultTable& table);

// A sentence for each way in which the runs on texts were measured.
std::vector<std::string> text_notes(const std::vector<TableRun>& runs);

}  // namespace che
