#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws score over a number that the experiment varies (see setting_effects): one panel
// per number and task, one line per label, the scores of a value as `aggregate` with their range as a band.
// Throws Error (usage) when nothing is varied.
std::string setting_effects_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                                   const std::filesystem::path& file);

}  // namespace che
