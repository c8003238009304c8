#include "experiments/result_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include "experiments/display_order.h"
#include "experiments/paper_table.h"
#include "tasks/task.h"

namespace che {
namespace {

// Lines "path=value".
using Settings = std::set<std::string>;

Settings lines_of(const std::string& text) {
  Settings settings;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) settings.insert(line);
  return settings;
}

Settings without(const Settings& settings, const Settings& removed) {
  Settings rest;
  std::set_difference(settings.begin(), settings.end(), removed.begin(), removed.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

std::string task_label(const TaskConfig& task) {
  RunConfig config;
  config.task = task;
  RunConfig defaults;
  defaults.task.name = task.name;
  Settings options;
  const Settings lines = without(lines_of(identity_text(config, {Role::kCell})),
                                 lines_of(identity_text(defaults, {Role::kCell})));
  for (const std::string& line : lines) options.insert(line.substr(line.find('.') + 1));
  return options.empty() ? task.name : fmt::format("{}({})", task.name, fmt::join(options, ", "));
}

// Everything a cell's numbers depend on that its task's and its encoding's labels do not say.
Settings other_settings(const RunConfig& config, const std::vector<Role>& roles) {
  RunConfig labelled;
  labelled.task = config.task;
  labelled.encoding = config.encoding;
  return without(lines_of(identity_text(config, roles)), lines_of(identity_text(labelled, roles)));
}

std::string with_settings(std::string label, const Settings& settings) {
  if (settings.empty()) return label;
  const bool has_settings = label.ends_with(')');
  if (has_settings) label.pop_back();
  return fmt::format("{}{}{})", label, has_settings ? ", " : "(", fmt::join(settings, ", "));
}

TableRun read_run(const RunFolder& folder) {
  const StoredRun stored = folder.read();
  TableRun run{.id = folder.id(),
               .task = "",
               .encoding = "",
               .config = folder.config(),
               .status = stored.status,
               .score = std::nullopt,
               .evaluation = {},
               .missing_lengths = 0,
               .metrics = stored.metrics};
  const std::vector<EvaluationRow>& rows = stored.evaluation;
  const EvaluationConfig& evaluation = run.config.evaluation;
  if (run.status.state == "finished") run.score = score(rows, evaluation);
  if (run.score) {
    run.evaluation = present_rows(rows, evaluation);
  } else {
    run.missing_lengths = missing_lengths(rows, evaluation).size();
  }
  return run;
}

TableRow make_row(const TableRun& run) {
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(run.config.task.name);
  return {.level = std::string(level_name(entry.level)),
          .task = run.task,
          .name = run.config.task.name,
          .chance = entry.chance,
          .baselines = std::nullopt};
}

void fill_cells(ResultTable& table) {
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const TableRun& run = table.runs[i];
    TableCell& cell = table.cells[{run.task, run.encoding}];
    cell.id = cell_id(run.config);
    cell.paper = paper_score(run.task, run.config.encoding.label());
    if (!run.score) {
      cell.missing.push_back(i);
      continue;
    }
    if (cell.finished.empty() || *run.score > *table.runs[cell.best].score) cell.best = i;
    cell.finished.push_back(i);
  }
  for (auto& [labels, cell] : table.cells) {
    std::vector<double> scores;
    for (const std::size_t run : cell.finished) scores.push_back(*table.runs[run].score);
    if (!scores.empty()) cell.scores = summarize(std::move(scores));
  }
}

// Whether both measure on the same samples.
bool same_samples(const EvaluationConfig& one, const EvaluationConfig& other) {
  return one.lengths() == other.lengths() && one.samples == other.samples && one.seed == other.seed;
}

}  // namespace

const TableCell* ResultTable::cell(const std::string& task, const std::string& encoding) const {
  const auto found = cells.find({task, encoding});
  return found == cells.end() ? nullptr : &found->second;
}

CellLabels label_cells(const std::vector<RunConfig>& configs, const std::vector<Role>& roles) {
  std::vector<Settings> settings;
  Settings shared;
  for (const RunConfig& config : configs) {
    settings.push_back(other_settings(config, roles));
    const Settings differing = without(shared, settings.back());
    shared = settings.size() == 1 ? settings.back() : without(shared, differing);
  }
  CellLabels labels;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    labels.of.push_back({task_label(configs[i].task),
                         with_settings(configs[i].encoding.label(), without(settings[i], shared))});
  }
  labels.shared_settings.assign(shared.begin(), shared.end());
  return labels;
}

ResultTable make_table(const std::vector<RunFolder>& folders) {
  ResultTable table;
  std::vector<RunConfig> configs;
  for (const RunFolder& folder : folders) {
    table.runs.push_back(read_run(folder));
    configs.push_back(folder.config());
  }
  CellLabels labels = label_cells(configs);
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    table.runs[i].task = std::move(labels.of[i].task);
    table.runs[i].encoding = std::move(labels.of[i].encoding);
  }
  table.shared_settings = std::move(labels.shared_settings);

  std::map<std::string, TableRow> rows;
  for (const TableRun& run : table.runs) {
    rows.emplace(run.task, make_row(run));
    if (std::find(table.encodings.begin(), table.encodings.end(), run.encoding) == table.encodings.end()) {
      table.encodings.push_back(run.encoding);
    }
  }
  const auto place = [&](const TableRow& row) { return TaskPlace{row.level, row.name, row.task}; };
  std::sort(table.encodings.begin(), table.encodings.end(), encoding_before);
  for (auto& [label, row] : rows) table.rows.push_back(std::move(row));
  std::sort(table.rows.begin(), table.rows.end(), [&](const TableRow& one, const TableRow& other) {
    return task_before(place(one), place(other));
  });

  std::map<std::string, std::size_t> row_index;
  for (std::size_t i = 0; i < table.rows.size(); ++i) row_index[table.rows[i].task] = i;
  std::map<std::string, std::size_t> column_index;
  for (std::size_t i = 0; i < table.encodings.size(); ++i) column_index[table.encodings[i]] = i;
  const auto order = [&](const TableRun& run) {
    return std::tuple(row_index.at(run.task), column_index.at(run.encoding), run.config.learning_rate,
                      run.config.seed, run.id);
  };
  std::sort(table.runs.begin(), table.runs.end(),
            [&](const TableRun& one, const TableRun& other) { return order(one) < order(other); });
  fill_cells(table);
  return table;
}

void warn_of_damage(const ResultTable& table, const WarningSink& warn) {
  for (const TableRun& run : table.runs) {
    if (run.status.state == kDamaged) warn(fmt::format("not counted: {}", run.status.error));
  }
}

ResultTable read_table(const std::filesystem::path& experiment) {
  std::vector<std::string> left_out;
  const auto warn = [&](const std::string& damage) {
    print_warning(damage);
    left_out.push_back(damage);
  };
  ResultTable table = make_table(open_runs(experiment, warn));
  table.left_out = std::move(left_out);
  // Of "." and "quick/", too.
  const std::filesystem::path whole = std::filesystem::canonical(experiment);
  table.name = whole.filename().string();
  warn_of_damage(table);
  return table;
}

void add_trivial_baselines(ResultTable& table) {
  table.has_baselines = true;
  for (TableRow& row : table.rows) {
    const TableRun* first = nullptr;
    bool same = true;
    for (const TableRun& run : table.runs) {
      if (run.task != row.task) continue;
      if (first == nullptr) first = &run;
      same = same && same_samples(run.config.evaluation, first->config.evaluation);
    }
    if (same) row.baselines = measure_trivial_baselines(first->config.task, first->config.evaluation);
  }
}

}  // namespace che
