#include "experiments/analysis/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "experiments/analysis/display_order.h"
#include "experiments/store/experiment_folder.h"
#include "tasks/declared/task_definition.h"
#include "tasks/task.h"

namespace che {
namespace {

using Settings = std::set<SettingValue>;

Settings without(const Settings& settings, const Settings& removed) {
  Settings rest;
  std::set_difference(settings.begin(), settings.end(), removed.begin(), removed.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

Settings settings_of(const RunConfig& config, const std::vector<Role>& roles) {
  const std::vector<SettingValue> settings = identity_settings(config, roles);
  return {settings.begin(), settings.end()};
}

// Everything a cell's numbers depend on that its task's and its encoding's labels do not say.
Settings other_settings(const RunConfig& config, const std::vector<Role>& roles) {
  RunConfig labelled;
  labelled.task = config.task;
  labelled.encoding = config.encoding;
  return without(settings_of(config, roles), settings_of(labelled, roles));
}

// Names of declared tasks that stand for several definitions.
std::set<std::string> ambiguous_tasks(const std::vector<RunConfig>& configs) {
  std::map<std::string, std::string> definitions;
  std::set<std::string> ambiguous;
  for (const RunConfig& config : configs) {
    const auto [first, is_new] = definitions.emplace(config.task.name, config.task.definition);
    if (first->second != config.task.definition) ambiguous.insert(config.task.name);
  }
  return ambiguous;
}

// `config`: the folder's, or one that differs in what its encoding is evaluated with.
TableRun read_run(const RunFolder& folder, const RunConfig& config, const StoredRun& stored,
                  TrainingJudge& judge) {
  TableRun run{.id = folder.id(),
               .task = {},
               .encoding = {},
               .config = config,
               .status = stored.status,
               .score = std::nullopt,
               .evaluation = {},
               .measured = {},
               .missing_lengths = 0,
               .metrics = stored.metrics,
               .damage = stored.damage_text(),
               .training = std::nullopt};
  const bool is_finished = run.damage.empty() && run.status.state == RunState::kFinished;
  // A run that still trains is not judged.
  if (is_finished) run.training = judge.judge(run.config, run.metrics);
  const std::vector<EvaluationRow>& rows = stored.evaluation;
  if (is_finished) run.score = score(rows, config);
  if (run.score) {
    run.evaluation = present_rows(rows, config);
    std::ranges::copy_if(rows, std::back_inserter(run.measured),
                         [settings = config.encoding.evaluation_settings()](const EvaluationRow& row) {
                           return row.encoding_settings == settings;
                         });
  } else {
    run.missing_lengths = missing_lengths(rows, config).size();
  }
  return run;
}

// What the run's own config asks for and, after it, each other setting of its encoding at which `che
// evaluate` measured all test lengths.
std::vector<TableRun> read_runs(const RunFolder& folder, TrainingJudge& judge) {
  const StoredRun stored = folder.read();
  std::vector<TableRun> runs{read_run(folder, folder.config(), stored, judge)};
  std::set<std::string> settings;
  for (const EvaluationRow& row : stored.evaluation) settings.insert(row.encoding_settings);
  settings.erase(folder.config().encoding.evaluation_settings());
  for (const std::string& other : settings) {
    RunConfig config = folder.config();
    config.encoding = config.encoding.with_evaluation_settings(other);
    TableRun run = read_run(folder, config, stored, judge);
    if (run.score) runs.push_back(std::move(run));
  }
  return runs;
}

// Over the test lengths.
double mean_chance(const Task& task, const EvaluationConfig& evaluation) {
  double sum = 0;
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  for (const std::int64_t length : lengths) sum += task.chance_at(length);
  return sum / static_cast<double>(lengths.size());
}

TableRow make_row(const TableRun& run) {
  const auto task = create_task(run.config.task);
  const bool is_declared = run.config.task.is_declared();
  return {.level = std::string(level_name(task->level())),
          .task = run.task,
          .chance = is_declared ? mean_chance(*task, run.config.evaluation) : task->chance(),
          .permutation_invariant =
              !is_declared && Registry<TaskEntry>::instance().get(task->name()).permutation_invariant,
          .baselines = std::nullopt};
}

void fill_cells(ResultTable& table) {
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const TableRun& run = table.runs[i];
    TableCell& cell = table.cells[{run.task, run.encoding}];
    cell.id = cell_id(run.config);
    cell.paper = paper_value(run.task, run.config.encoding);
    if (!run.score) {
      cell.missing.push_back(i);
      continue;
    }
    if (cell.finished.empty() || *run.score > *table.runs[cell.best].score) cell.best = i;
    cell.finished.push_back(i);
    if (run.training) ++(run.training->trained ? cell.trained : cell.untrained);
  }
  for (auto& [key, cell] : table.cells) {
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

const TableCell* ResultTable::cell(const TaskLabel& task, const EncodingLabel& encoding) const {
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
  const std::set<std::string> ambiguous = ambiguous_tasks(configs);
  CellLabels labels;
  labels.of.reserve(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    CellKey& key = labels.of.emplace_back(
        CellKey{.task = configs[i].task.label(), .encoding = configs[i].encoding.label()});
    if (ambiguous.contains(key.task.name)) {
      const TaskDefinition definition = parse_task_definition(configs[i].task.definition, "definition");
      key.task.settings.push_back({.path = "task.definition", .value = definition.digest()});
    }
    std::ranges::copy(without(settings[i], shared), std::back_inserter(key.encoding.settings));
  }
  labels.shared_settings.assign(shared.begin(), shared.end());
  return labels;
}

ResultTable make_table(const std::vector<RunFolder>& folders) {
  ResultTable table;
  std::vector<RunConfig> configs;
  TrainingJudge judge;
  for (const RunFolder& folder : folders) {
    for (TableRun& run : read_runs(folder, judge)) {
      configs.push_back(run.config);
      table.runs.push_back(std::move(run));
    }
  }
  CellLabels labels = label_cells(configs);
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    table.runs[i].task = std::move(labels.of[i].task);
    table.runs[i].encoding = std::move(labels.of[i].encoding);
  }
  table.shared_settings = std::move(labels.shared_settings);

  std::map<TaskLabel, TableRow> rows;
  for (const TableRun& run : table.runs) {
    rows.emplace(run.task, make_row(run));
    if (std::ranges::find(table.encodings, run.encoding) == table.encodings.end()) {
      table.encodings.push_back(run.encoding);
    }
  }
  std::sort(table.encodings.begin(), table.encodings.end(), encoding_before);
  for (auto& [label, row] : rows) table.rows.push_back(std::move(row));
  std::sort(table.rows.begin(), table.rows.end(), [](const TableRow& one, const TableRow& other) {
    return task_before(one.level, one.task, other.level, other.task);
  });

  std::map<TaskLabel, std::size_t> row_index;
  for (std::size_t i = 0; i < table.rows.size(); ++i) row_index[table.rows[i].task] = i;
  std::map<EncodingLabel, std::size_t> column_index;
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
    if (!run.damage.empty()) warn(fmt::format("not counted: {}", run.damage));
  }
}

ResultTable read_table(const std::filesystem::path& experiment, const RunChoice& choice) {
  std::vector<std::string> left_out;
  ResultTable table = make_table(choice.of(open_runs(experiment, print_warning, &left_out)));
  table.conditions = choice.conditions();
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
