#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// "svg", "pdf", "png".
const std::vector<std::string>& figure_formats();

// A gnuplot script that draws into `file` in one of figure_formats().
using FigureScript = std::function<std::string(std::string_view format, const std::filesystem::path& file)>;

// What the script draws, the bytes of a file. Throws Error (runtime) for what gnuplot or the disk says.
std::string figure_bytes(std::string_view format, const FigureScript& script);

// Draws `folder`/`stem`.FORMAT for each of `formats`, each replaced whole; creates the folder. Returns
// the files' paths. Throws Error (usage) for a folder that cannot be created, else as figure_bytes does.
std::vector<std::filesystem::path> draw_figure(const std::filesystem::path& folder, const std::string& stem,
                                               const FigureScript& script,
                                               const std::vector<std::string>& formats = figure_formats());

}  // namespace che
