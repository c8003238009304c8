#pragma once

#include <string>

namespace che {

// Feeds `script` to gnuplot's standard input. Throws Error (runtime) with gnuplot's own words when
// it fails, and with how to install it when it is missing.
void run_gnuplot(const std::string& script, const std::string& program = "gnuplot");

// Text as a gnuplot string, quotes included.
std::string gnuplot_string(const std::string& text);

}  // namespace che
