#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/results/reading_rules.h"
#include "experiments/results/result_table.h"
#include "experiments/store/run_folder.h"

namespace che {

// A run on a text stands in a table once for each test length and way of measuring. The mean of perplexities
// at several lengths means nothing.
struct TextRow {
  RunConfig config;
  std::vector<EvaluationRow> measured = {};  // At this length and with these settings, on any samples.
};

// The rows of a run by the settings that the encoding was evaluated with.
using RowsBySettings = std::map<OptionValues, std::vector<EvaluationRow>>;

// Returns a row for each length that the config asks for, and for each length and settings at which `che
// evaluate` measured the run. `rows_of` has an entry for the run's own settings. Throws Error (usage) where
// --score-lengths leaves none.
std::vector<TextRow> text_rows(const RunConfig& config, RowsBySettings&& rows_of, const ReadingRules& rules);

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
