#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/results/result_table.h"
#include "plots/figure_data.h"

namespace che {

// Which rows of a table a figure shows.
enum class FigureRows : std::uint8_t { kTasks, kTexts, kAll };

// A figure of an experiment.
struct Figure {
  std::string name;        // Its files are called so, and `che plot --figure` knows it by this name.
  std::string title;       // One line that says what it shows.
  std::string needs;       // Results without it have nothing to draw.
  bool baselines = false;  // Whether its data have trivial baselines; see add_trivial_baselines.
  std::function<DataTable(const FigureSource&)> data;
  FigureRows rows = FigureRows::kTasks;
};

// All of them, in the order of a report.
const std::vector<Figure>& figures();

std::vector<std::string> figure_names();

// Throws Error (usage) for an unknown name.
const Figure& figure_named(std::string_view name);

// "svg", "pdf", "png".
const std::vector<std::string>& figure_formats();

// The limits and the default of the width of a figure in millimetres.
inline constexpr double kMinWidth = 60;
inline constexpr double kMaxWidth = 400;
inline constexpr double kDefaultWidth = 140;

// The folder below the figures' own that has their data.
inline constexpr const char* kFigureDataFolder = "figure-data";

// Writes the data of these figures to FOLDER/figure-data and returns those that have something to draw.
// `required` names figures: where one of them has nothing, it throws Error (usage) before any is written.
std::vector<const Figure*> write_figure_data(const std::vector<const Figure*>& chosen,
                                             const FigureSource& source, const std::filesystem::path& folder,
                                             const std::vector<std::string>& required = {});

// Runs the Python package che_plots with these arguments by python3 of the PATH; without matplotlib the
// package goes on in /usr/bin/python3. Returns the files that it wrote. Throws Error (runtime) with the
// package's last line, or with the remedy where Python is missing.
std::vector<std::filesystem::path> run_che_plots(const std::vector<std::string>& arguments);

// Draws these figures of a folder from its data.
std::vector<std::filesystem::path> draw_figures(const std::vector<const Figure*>& chosen,
                                                const std::filesystem::path& folder,
                                                const std::vector<std::string>& formats, double width_mm);

}  // namespace che
