#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace che {

// A gnuplot script that draws into `file` through `terminal`, "svg" or "pngcairo".
using FigureScript = std::function<std::string(std::string_view terminal, const std::filesystem::path& file)>;

// Draws `folder`/`stem`.svg and .png, each replaced whole; creates the folder. Throws Error (usage)
// for a folder that cannot be created, and (runtime) for what gnuplot or the disk says.
void draw_figure(const std::filesystem::path& folder, const std::string& stem, const FigureScript& script);

}  // namespace che
