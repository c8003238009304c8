#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/result_table.h"

namespace che {

// A gnuplot script that draws accuracy over test length into `file` through `terminal` ("svg" or
// "pngcairo"): a panel a task, a line an encoding (the run with the best score of the cell), the
// training lengths shaded, the level of guessing dotted. Throws Error (usage) when no run has
// finished.
std::string accuracy_over_length_script(const ResultTable& table, std::string_view terminal,
                                        const std::filesystem::path& file);

// Draws accuracy.svg and accuracy.png into `folder`, which is created if need be; each replaces its
// predecessor whole. Throws Error when gnuplot is missing or fails.
void plot_accuracy_over_length(const ResultTable& table, const std::filesystem::path& folder);

}  // namespace che
