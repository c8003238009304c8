#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace che {

// Allows one of these words, with the one that a misspelt word may be meant to be.
CLI::Validator one_of(const std::vector<std::string>& allowed);

}  // namespace che
