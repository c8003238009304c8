#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/results/result_table.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A figure of an experiment.
struct Figure {
  std::string name;        // Also that of its files.
  std::string title;       // What it shows, in one line.
  bool baselines = false;  // Whether it shows trivial baselines, or marks scores that pass them.
  // Whether there is something to draw.
  std::function<bool(const ResultTable&)> drawable;
  // For plots/figure_files.h; throws Error (usage) when there is nothing to draw.
  std::function<std::string(const ResultTable&, Aggregate, const FigureFormat& format,
                            const std::filesystem::path&)>
      script;
};

// All of them, in the order of a report.
const std::vector<Figure>& figures();

std::vector<std::string> figure_names();

// Throws Error (usage) for an unknown name.
const Figure& figure_named(std::string_view name);

// Those that have something to draw.
std::vector<const Figure*> drawable_figures(const ResultTable& table);

}  // namespace che
