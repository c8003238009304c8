#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws accuracy over test length into `file` in a figure format (see
// figure_formats): one panel per task, one line per encoding with a band over its runs (see cell_curve), the
// training lengths shaded, the level of guessing and, where rows have trivial baselines that are
// another, that of predictors by position dotted. Throws Error (usage) when no run has finished.
std::string accuracy_over_length_script(const ResultTable& table, Aggregate aggregate,
                                        const FigureFormat& format, const std::filesystem::path& file);

}  // namespace che
