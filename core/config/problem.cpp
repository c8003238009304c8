#include "core/config/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace che {

std::string ConfigProblem::message() const { return fmt::format("{}: {}", fmt::join(paths, ", "), text); }

}  // namespace che
