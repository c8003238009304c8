#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace che {

// What is wrong with a command line that `app` could not parse, in one line: for an unknown command or
// option also the nearest name and all there are. `arguments` are those of the command line, without the
// program's name.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments);

}  // namespace che
