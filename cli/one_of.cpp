#include "cli/one_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/suggestion.h"

namespace che {

CLI::Validator one_of(const std::vector<std::string>& allowed) {
  const auto problem = [allowed](const std::string& word) -> std::string {
    if (std::ranges::count(allowed, word) > 0) return "";
    const std::string closest = closest_name(word, allowed);
    return fmt::format("got '{}'{}; allowed: {}", word,
                       closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest),
                       fmt::join(allowed, ", "));
  };
  return {problem, fmt::format("{{{}}}", fmt::join(allowed, ","))};
}

}  // namespace che
