#pragma once

#include <set>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"

namespace che {

// Says what the numbers of a table are: "Accuracies and scores are in percent", or, where texts have another
// metric, "Accuracies are in percent, scores of texts perplexities". `of_accuracies` is "in percent" here.
std::string score_units(const ResultTable& table, std::string_view of_accuracies);

// Says the same of comparisons in these metrics, in sentences. Plain numbers are fractions.
std::string difference_units(const std::set<Metric::Source>& sources, bool plain);

}  // namespace che
