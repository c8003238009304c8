#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/gnuplot/figure_format.h"

namespace che {

// "svg", "pdf", "png".
const std::vector<std::string>& figure_formats();

// A gnuplot script that draws into `file` in one of figure_formats().
using FigureScript =
    std::function<std::string(const FigureFormat& format, const std::filesystem::path& file)>;

// What the script draws, the bytes of a file. An SVG has `title`, and of its parts those that the script
// gives one. Throws Error (runtime) for what gnuplot or the disk says.
std::string figure_bytes(const FigureFormat& format, const FigureScript& script, const std::string& title);

// What a figure's files are called.
struct FigureName {
  std::string stem;
  std::string title;
};

// Draws `folder`/STEM.KIND in each of `kinds`, at this width of paper (0 for a screen's), each replaced
// whole; creates the folder. Returns the files' paths. Throws Error (usage) for a folder that cannot be
// created, else as figure_bytes does.
std::vector<std::filesystem::path> draw_figure(const std::filesystem::path& folder, const FigureName& name,
                                               const FigureScript& script,
                                               const std::vector<std::string>& kinds = figure_formats(),
                                               double width_mm = 0);

}  // namespace che
