#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws the score of every finished run: one panel per task, one strip per encoding,
// in it the runs from top to bottom by learning rate and seed, the median as a bar; dotted the level of
// guessing and, where rows have trivial baselines that are another, that of predictors by position. What an
// aggregate hides, runs that learn or do not, shows here. Throws Error (usage) when no run has finished.
std::string run_strips_script(const ResultTable& table, const FigureFormat& format,
                              const std::filesystem::path& file);

}  // namespace che
