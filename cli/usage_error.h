#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace che {

// Explains in one line why `app` could not parse a command line. For an unknown command or option it also
// gives the nearest name and all that exist. `arguments` are those of the command line, without the program's
// name.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments);

}  // namespace che
