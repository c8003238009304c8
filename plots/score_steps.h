#pragma once

#include <filesystem>
#include <string>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws the score over training steps, at those of evaluation.at_steps and at the last
// one: one panel per task, one line per encoding with a band over its finished runs (see cell_curve). Throws
// Error (usage) when there is none.
std::string score_steps_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                               const std::filesystem::path& file);

}  // namespace che
