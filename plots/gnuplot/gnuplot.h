#pragma once

#include <string>
#include <string_view>

#include "plots/gnuplot/figure_format.h"

namespace che {

// Where a script writes its figure: a file in memory, so that nothing is left of a figure whose process was
// killed, and no folder for temporary files is needed.
inline constexpr const char* kGnuplotOutput = "/dev/fd/3";

// Feeds `script` to gnuplot's standard input and returns what it wrote to kGnuplotOutput. Throws Error
// (runtime) with gnuplot's own words when it fails, and with how to install it when it is missing.
std::string run_gnuplot(const std::string& script, const std::string& program = "gnuplot");

// The lines of a script that open `file`: a canvas of so many pixels, which in a PDF are points, unless the
// format has a width of paper, which the PDF then has.
std::string gnuplot_output(const FigureFormat& format, const std::string& file, double width, double height,
                           int font_size);

// Text as a gnuplot string, quotes included.
std::string gnuplot_string(const std::string& text);

}  // namespace che
