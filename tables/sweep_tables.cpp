#include "tables/sweep_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/number_text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/results/columns.h"
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
    levels.emplace(key.task, level_of(runs[i]));
    tasks_.push_back(key.task);
  }
  encodings_.assign(encodings.begin(), encodings.end());
  std::ranges::sort(encodings_, encoding_before);
  std::ranges::sort(tasks_, [&](const TaskLabel& one, const TaskLabel& other) {
    return task_before(levels.at(one), one, levels.at(other), other);
  });
}

Table RunGrid::table() const {
  Table table{.title = "Runs per task and encoding."};
  PrintedTable& printed = table.printed;
  // Fewer columns than rows: labels of encodings are long.
  const bool has_tasks_as_columns = tasks_.size() < encodings_.size();
  printed.columns = {{.title = has_tasks_as_columns ? "encoding" : "task", .number = false}};
  table.data.columns = {"task", "encoding", "runs"};
  const auto add_rows = [&](const auto& row_labels, const auto& column_labels, const auto& key_of) {
    for (const auto& label : column_labels) printed.columns.push_back({.title = label.text()});
    for (const auto& row_label : row_labels) {
      std::vector<PrintedCell>& cells = printed.rows.emplace_back().cells;
      cells.push_back({.text = row_label.text()});
      for (const auto& label : column_labels) {
        cells.push_back({.text = count_text(counts_, key_of(row_label, label))});
      }
    }
  };
  if (has_tasks_as_columns) {
    add_rows(encodings_, tasks_, [](const auto& row, const auto& column) { return CellKey{column, row}; });
  } else {
    add_rows(tasks_, encodings_, [](const auto& row, const auto& column) { return CellKey{row, column}; });
  }
  for (const auto& [key, count] : counts_) {
    table.data.rows.push_back({key.task.text(), key.encoding.text(), static_cast<std::int64_t>(count)});
  }
  return table;
}

Table status_table(const ExperimentStatus& status, const std::string& name) {
  Table table{.title = fmt::format("State of the runs of the experiment {}.", name)};
  table.printed.columns = {{.title = "task", .number = false},
                           {.title = "encoding", .number = false},
                           {.title = "seed"},
                           {.title = "learning rate"},
                           {.title = "state", .number = false},
                           {.title = "step"},
                           {.title = "steps"},
                           {.title = "measured"},
                           {.title = "lengths"},
                           {.title = "detail", .number = false}};
  table.printed.notes = {
      {NoteKind::kReading,
       "Steps done and asked for; test lengths measured and asked for. For a folder that cannot be "
       "opened, the detail says why."}};
  table.data.columns = {"run",   "task", "encoding", "seed",     "data_seed", "learning_rate",
                        "state", "step", "steps",    "measured", "lengths",   "detail"};
  const auto whole = [](const std::optional<std::int64_t>& number) {
    return PrintedCell{.text = number ? fmt::format("{}", *number) : kNoNumber};
  };
  for (const RunProgress& run : status.progress) {
    table.printed.rows.push_back({.group = "",
                                  .cells = {{.text = run.task},
                                            {.text = run.encoding},
                                            {.text = fmt::format("{}", run.seed)},
                                            number_cell(run.learning_rate, real_text),
                                            {.text = run.state},
                                            whole(run.step),
                                            whole(run.steps),
                                            {.text = fmt::format("{}", run.measured)},
                                            {.text = fmt::format("{}", run.lengths)},
                                            {.text = run.detail}}});
    table.data.rows.push_back({run.id, run.task, run.encoding, run.seed, table_value(run.data_seed),
                               table_value(run.learning_rate), run.state, table_value(run.step),
                               table_value(run.steps), static_cast<std::int64_t>(run.measured),
                               static_cast<std::int64_t>(run.lengths), run.detail});
  }
  for (const auto& [state, detail] : status.unopened) {
    table.printed.rows.push_back(
        {.group = "", .cells = {{}, {}, {}, {}, {.text = state}, {}, {}, {}, {}, {.text = detail}}});
    table.data.rows.push_back({{}, {}, {}, {}, {}, {}, state, {}, {}, {}, {}, detail});
  }
  return table;
}

}  // namespace che
