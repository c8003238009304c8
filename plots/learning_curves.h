#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws training loss over steps: one panel per task, one line per encoding with a band
// over its runs (see cell_curve); the loss on a logarithmic axis where it spans decades. Throws Error
// (usage) when no run has finished.
std::string learning_curves_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                                   const std::filesystem::path& file);

}  // namespace che
