#include "tables/run_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "experiments/analysis/display_order.h"
#include "experiments/plan/identity.h"
#include "tasks/task.h"

namespace che {
namespace {

std::string count_text(const std::map<CellKey, std::size_t>& counts, const CellKey& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? kNoNumber : fmt::format("{}", found->second);
}

}  // namespace

RunGrid::RunGrid(const std::vector<RunConfig>& runs) {
  const CellLabels labels = label_cells(runs);
  std::map<TaskLabel, Level> levels;
  std::set<EncodingLabel> encodings;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CellKey& key = labels.of[i];
    ++counts_[key];
    encodings.insert(key.encoding);
    if (levels.contains(key.task)) continue;
    const auto task = create_task(runs[i].task);
    levels.emplace(key.task, task->level());
    tasks_.push_back(key.task);
  }
  encodings_.assign(encodings.begin(), encodings.end());
  std::ranges::sort(encodings_, encoding_before);
  std::ranges::sort(tasks_, [&](const TaskLabel& one, const TaskLabel& other) {
    return task_before(levels.at(one), one, levels.at(other), other);
  });
}

Table RunGrid::table() const {
  Table table{.title = "Runs per task and encoding.", .printed = {}, .data = {}};
  PrintedTable& printed = table.printed;
  // Fewer columns than rows: labels of encodings are long.
  const bool has_tasks_as_columns = tasks_.size() < encodings_.size();
  printed.columns = {{.title = has_tasks_as_columns ? "encoding" : "task", .number = false}};
  table.data.columns = {"task", "encoding", "runs"};
  const auto add_row = [&](const std::string& title) -> std::vector<PrintedCell>& {
    return printed.rows.emplace_back(PrintedRow{.group = "", .cells = {{.text = title}}}).cells;
  };
  if (has_tasks_as_columns) {
    for (const TaskLabel& task : tasks_) printed.columns.push_back({.title = task.text()});
    for (const EncodingLabel& encoding : encodings_) {
      std::vector<PrintedCell>& cells = add_row(encoding.text());
      for (const TaskLabel& task : tasks_) cells.push_back({.text = count_text(counts_, {task, encoding})});
    }
  } else {
    for (const EncodingLabel& encoding : encodings_) printed.columns.push_back({.title = encoding.text()});
    for (const TaskLabel& task : tasks_) {
      std::vector<PrintedCell>& cells = add_row(task.text());
      for (const EncodingLabel& encoding : encodings_) {
        cells.push_back({.text = count_text(counts_, {task, encoding})});
      }
    }
  }
  for (const auto& [key, count] : counts_) {
    table.data.rows.push_back({key.task.text(), key.encoding.text(), static_cast<std::int64_t>(count)});
  }
  return table;
}

}  // namespace che
