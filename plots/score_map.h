#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws the scores of the table as a heat map, tasks by encodings, next to the
// paper's where it has any: numbers in percent, colours by the way from guessing to perfection. Throws
// Error (usage) when no run has finished.
std::string score_map_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                             const std::filesystem::path& file);

}  // namespace che
