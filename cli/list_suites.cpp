#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "cli/listing.h"
#include "tasks/suite.h"

namespace che {
namespace {

std::vector<ListRow> suite_rows() {
  std::vector<ListRow> rows = {{{"SUITE", "TASKS", "TRAINED", "TESTED", "STEP", "SAMPLES", "SUMMARY"}, {}}};
  for (const Suite& suite : suites()) {
    rows.push_back({{suite.name, std::to_string(suite.tasks.size()),
                     fmt::format("{}..{}", suite.first_training_length, suite.last_training_length),
                     fmt::format("{}..{}", suite.first_length, suite.last_length),
                     std::to_string(suite.length_step), std::to_string(suite.samples), suite.summary},
                    {fmt::format("tasks: {}", fmt::join(suite.tasks, ", "))}});
  }
  return rows;
}

}  // namespace

Listing suite_listing() {
  return {.kind = "suites",
          .help = "frozen choices of tasks and test samples, for models outside che; SAMPLES: per length",
          .rows = suite_rows};
}

}  // namespace che
