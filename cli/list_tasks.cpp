#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/listing.h"
#include "core/registry.h"
#include "tasks/task.h"

namespace che {
namespace {

std::vector<ListRow> task_rows() {
  std::vector<ListRow> rows = {
      {{"TASK", "LEVEL", "INPUT", "OUTPUT", "OUTPUT LENGTH", "INVARIANT", "SUMMARY"}, {}}};
  const auto& registry = Registry<TaskEntry>::instance();
  for (const std::string& name : registry.names()) {
    const TaskEntry& entry = registry.get(name);
    const auto task = create_task(name);
    ListRow row{{name, std::string(level_name(task->level())), std::string(task->input_symbols()),
                 std::string(task->output_symbols()), entry.output_length,
                 entry.permutation_invariant ? "yes" : "no", entry.summary},
                {fmt::format("accuracy by chance: {}", task->chance())}};
    append_options(entry.options, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Listing task_listing() {
  return {.kind = "tasks",
          .help =
              "L is the length asked for; INVARIANT: marked as permutation-invariant in Table 2 of the DAPE "
              "paper",
          .rows = task_rows};
}

}  // namespace che
