#include "experiments/results/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/results/columns.h"
#include "experiments/results/scored_lengths.h"
#include "experiments/results/text_rows.h"
#include "tasks/task.h"

namespace che {
namespace {

// Makes a run without the rows of evaluation.csv.
TableRun trained_run(const RunFolder& folder, const StoredRun& stored, TrainingJudge& judge) {
  TableRun run{
      .id = folder.id(), .config = folder.config(), .status = stored.status, .damage = stored.damage_text()};
  TrainingRows rows;
  if (has_final_steps(stored.metrics, run.config.log.every_steps)) rows.metrics = stored.metrics;
  if (run.damage.empty()) rows.at_steps = stored.at_steps;
  if (run.is_finished()) run.training = judge.judge(run.config, rows.metrics);
  run.training_rows = std::make_shared<TrainingRows>(std::move(rows));
  return run;
}

// `config` is the run's, or differs from it in the settings that the encoding is evaluated with, or is of one
// length of a text. `rows` has the stored rows of these settings, and of a text those of this length.
TableRun measured_run(TableRun run, const RunConfig& config, const std::vector<EvaluationRow>& rows,
                      const ReadingRules& rules) {
  run.config = config;
  run.scored_lengths = lengths_asked(config, rules);
  if (run.is_finished()) run.evaluation = scored_rows(rows, config, rules);
  run.metric = rules.metric.value_or(create_workload(config)->metric());
  run.score = mean_value(run.evaluation, run.metric);
  if (run.score) {
    run.score_error = mean_error(run.evaluation, run.metric);
    run.scored_lengths.clear();
    for (const EvaluationRow& row : run.evaluation) run.scored_lengths.push_back(row.length);
    run.measured = rows;
  } else {
    run.missing_lengths = missing_lengths(rows, config).size();
  }
  return run;
}

// Returns the run as its own config describes it and, after it, one for each other setting of its encoding at
// which `che evaluate` measured all test lengths. Counts the others.
std::vector<TableRun> make_runs(const RunFolder& folder, const StoredRun& stored, const ReadingRules& rules,
                                TrainingJudge& judge, std::size_t& without_score) {
  const OptionValues own = evaluation_settings(folder.config());
  const bool has_text = folder.config().has_text();
  RowsBySettings rows_of = {{own, {}}};
  for (const EvaluationRow& row : stored.evaluation) rows_of[row.encoding_settings].push_back(row);
  const TableRun trained = trained_run(folder, stored, judge);
  std::vector<TableRun> runs_of_others;
  std::size_t lacking = 0;
  for (const auto& [settings, rows] : rows_of) {
    if (settings == own) continue;
    std::optional<RunConfig> config;
    try {
      config = config_of_row(folder.config(), settings);
    } catch (const Error& error) {
      StoredRun damaged = stored;
      damaged.evaluation.clear();
      const std::filesystem::path file = folder.path() / "evaluation.csv";
      damaged.damage.push_back({file, fmt::format("{}: {}", file.string(), error.what())});
      return make_runs(folder, damaged, rules, judge, without_score);
    }
    if (has_text) continue;
    if (scored_rows(rows, *config, rules).empty()) {
      ++lacking;
    } else {
      runs_of_others.push_back(measured_run(trained, *config, rows, rules));
    }
  }
  if (has_text) {
    std::vector<TableRun> runs;
    for (const TextRow& row : text_rows(folder.config(), std::move(rows_of), rules)) {
      runs.push_back(measured_run(trained, row.config, row.measured, rules));
    }
    return runs;
  }
  std::vector<TableRun> runs = {measured_run(trained, folder.config(), rows_of.at(own), rules)};
  if (rules.score_lengths && runs[0].is_finished() && runs[0].evaluation.empty()) {
    throw no_scored_lengths(runs[0], stored.evaluation, *rules.score_lengths);
  }
  without_score += lacking;
  for (TableRun& run : runs_of_others) {
    without_score += run.score ? 0 : 1;
    if (run.score) runs.push_back(std::move(run));
  }
  return runs;
}

// Throws Error (usage) where runs have two versions of a task: their samples differ, and so do their scores.
void check_task_versions(const std::vector<RunFolder>& runs) {
  struct First {
    const RunFolder* run = nullptr;
    std::int64_t version = 1;
  };
  std::map<std::string, First> first_of;  // By the task's name.
  for (const RunFolder& run : runs) {
    if (run.config().has_text()) continue;
    const TaskConfig& task = run.config().task;
    const auto [place, is_new] = first_of.try_emplace(task.name);
    First& first = place->second;
    if (!is_new && task.definition == first.run->config().task.definition && task.version == first.version) {
      continue;
    }
    const std::int64_t version = task_version(task);
    if (is_new) {
      first = {.run = &run, .version = version};
    } else if (version != first.version) {
      throw Error(fmt::format(
          "two versions of the task {}, whose samples differ: {} has version {}, {} has version {}; allowed "
          "side by side: one version of a task; leave out a folder, or choose one version with --only {}",
          task.name, first.run->path().string(), first.version, run.path().string(), version,
          task.is_declared() ? "'task={file: FILE}'" : fmt::format("task.version={}", version)));
    }
  }
}

// Adds the entry to the label of each column that several entries have.
void name_entries(std::vector<TableRun>& runs, const std::vector<std::string>& entries) {
  std::map<EncodingLabel, std::set<std::size_t>> entries_of;
  for (const TableRun& run : runs) entries_of[run.encoding].insert(run.experiment);
  for (TableRun& run : runs) {
    if (entries_of.at(run.encoding).size() < 2) continue;
    run.encoding.settings.push_back({.path = "entry", .value = entries[run.experiment]});
  }
}

// Returns the configs that columns are labelled by. If a rule chooses the scored lengths, they have the
// default lengths.
std::vector<RunConfig> configs_to_label(const std::vector<TableRun>& runs, const ReadingRules& rules) {
  std::vector<RunConfig> configs;
  configs.reserve(runs.size());
  for (const TableRun& run : runs) {
    RunConfig& config = configs.emplace_back(run.config);
    if (!rules.score_lengths || config.has_text()) continue;
    config.evaluation = {.samples = run.config.evaluation.samples,
                         .seed = run.config.evaluation.seed,
                         .eval_dropout = run.config.evaluation.eval_dropout};
  }
  return configs;
}

// Reads the runs, labels their columns and applies the rules.
ResultTable labelled_runs(const std::vector<RunFolder>& runs, const ReadingRules& rules,
                          const RunOrigins& origins, CellLabels& labels) {
  check_task_versions(runs);
  check_corpora(runs);
  ResultTable table;
  TrainingJudge judge;
  std::size_t without_score = 0;
  for_each_in_order(
      runs.size(), [&](std::size_t i) { return runs[i].read(); },
      [&](std::size_t i, const StoredRun& stored) {
        const auto origin = origins.folder_of.find(runs[i].path());
        for (TableRun& run : make_runs(runs[i], stored, rules, judge, without_score)) {
          if (origin != origins.folder_of.end()) run.experiment = origin->second;
          table.runs.push_back(std::move(run));
        }
      });
  labels = label_cells(configs_to_label(table.runs, rules));
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    table.runs[i].task = std::move(labels.of[i].task);
    table.runs[i].encoding = std::move(labels.of[i].encoding);
  }
  table.shared_settings = std::move(labels.shared_settings);
  for (std::string& note : text_notes(table.runs)) table.reading_notes.push_back(std::move(note));
  if (!origins.entries.empty()) name_entries(table.runs, origins.entries);
  if (rules.score_lengths) {
    name_scored_lengths(table.runs);
    table.score_lengths = rules.score_lengths->text();
    table.reading_notes.push_back(scored_lengths_note(table.runs, *rules.score_lengths));
  }
  if (judge.has_unjudged()) {
    table.reading_notes.push_back(
        fmt::format("The runs have more than {} pairs of a task and training lengths. Whether the others "
                    "trained was not judged.",
                    TrainingJudge::kMostMeasured));
  }
  if (without_score > 0) {
    table.reading_notes.push_back(fmt::format(
        "Results of `che evaluate --set` that lack test lengths of a score stand in no column: {}.",
        without_score));
  }
  if (rules.select) {
    table.reading_notes.push_back(select_rates(table.runs, *rules.select));
    table.select = rules.select;
  }
  return table;
}

std::vector<std::int64_t> lengths_of_score(const TableRun& run) {
  return run.scored_lengths.empty() ? run.config.evaluation.lengths() : run.scored_lengths;
}

TableRow make_row(const TableRun& run) {
  const bool is_registered = !run.config.has_text() && !run.config.task.is_declared();
  TableRow row{.level = level_of(run.config), .task = run.task, .metric = run.metric};
  if (run.metric.source == Metric::Source::kAccuracy) row.workload = create_workload(run.config);
  row.chance = row.chance_at(lengths_of_score(run));
  row.permutation_invariant =
      is_registered && Registry<TaskEntry>::instance().get(run.config.task.name).permutation_invariant;
  return row;
}

void fill_cells(ResultTable& table) {
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const TableRun& run = table.runs[i];
    TableCell& cell = table.cells[{run.task, run.encoding}];
    if (cell.id.empty()) {
      cell.id = cell_id(run.config);
      const bool is_task_of_encoder = run.config.model.kind == ModelConfig().kind && !run.config.has_text();
      if (is_task_of_encoder && run.metric.source == Metric::Source::kAccuracy) {
        cell.paper = paper_value(run.task, run.config.encoding);
      }
    }
    if (!run.score) {
      cell.missing.push_back(i);
      continue;
    }
    const auto rank = [&](std::size_t of) {
      const TableRun& one = table.runs[of];
      const int trained = !one.training ? 1 : one.training->trained ? 2 : 0;
      return std::pair(run.metric.gain(*one.score), trained);
    };
    if (cell.finished.empty() || rank(i) > rank(cell.best)) cell.best = i;
    cell.finished.push_back(i);
    if (run.training) ++(run.training->trained ? cell.trained : cell.untrained);
  }
  for (auto& [key, cell] : table.cells) {
    std::vector<double> scores;
    for (const std::size_t run : cell.finished) scores.push_back(*table.runs[run].score);
    if (scores.empty()) continue;
    const TableRun& best = table.runs[cell.best];
    cell.scores = summarize(std::move(scores), best.metric);
    if (best.training) cell.best_trained = best.training->trained;
    cell.best_error = best.score_error;
    // Errors of runs on the same samples are not independent; this takes them as if they were the same.
    double sum = 0;
    const bool are_known = std::ranges::all_of(cell.finished, [&](std::size_t run) {
      sum += table.runs[run].score_error.value_or(0);
      return table.runs[run].score_error.has_value();
    });
    if (are_known) cell.mean_error = sum / static_cast<double>(cell.finished.size());
  }
}

const TableRun& any_run(const ResultTable& table, const TableCell& cell) {
  return table.runs[cell.finished.empty() ? cell.missing.front() : cell.finished.front()];
}

// Includes the seeds of unfinished runs, so that a repetition that is still to come changes nothing.
std::set<std::int64_t> seeds_of(const ResultTable& table, const TableCell& cell) {
  std::set<std::int64_t> seeds;
  for (const auto* runs : {&cell.finished, &cell.missing}) {
    for (const std::size_t i : *runs) seeds.insert(table.runs[i].config.evaluation.seed);
  }
  return seeds;
}

}  // namespace

const TableRow& ResultTable::row(const TaskLabel& task) const {
  return *std::ranges::find(rows, task, &TableRow::task);
}

std::vector<std::vector<const TableRun*>> ResultTable::by_stored_run() const {
  std::vector<std::vector<const TableRun*>> stored;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places;
  for (const TableRun& run : runs) {
    const std::size_t place = places.emplace(std::pair(run.experiment, run.id), stored.size()).first->second;
    if (place == stored.size()) stored.emplace_back();
    stored[place].push_back(&run);
  }
  return stored;
}

const TableCell* ResultTable::cell(const TaskLabel& task, const EncodingLabel& encoding) const {
  const auto found = cells.find({task, encoding});
  return found == cells.end() ? nullptr : &found->second;
}

ResultTable make_table(const std::vector<RunFolder>& runs, const ReadingRules& rules,
                       const RunOrigins& origins) {
  CellLabels labels;
  ResultTable table = labelled_runs(runs, rules, origins, labels);
  std::map<TaskLabel, TableRow> rows;
  std::map<TaskLabel, const TableRun*> first_of;
  for (const TableRun& run : table.runs) {
    const TableRun& first = *first_of.try_emplace(run.task, &run).first->second;
    if (&first == &run) rows.emplace(run.task, make_row(run));
    TableRow& row = rows.at(run.task);
    // The row has no chance where it differs between the test lengths of runs.
    const std::vector<std::int64_t> lengths = lengths_of_score(run);
    const bool has_other = lengths != lengths_of_score(first) && row.chance_at(lengths) != row.chance;
    if (has_other) row.chance.reset();
    if (std::ranges::find(table.encodings, run.encoding) == table.encodings.end()) {
      table.encodings.push_back(run.encoding);
    }
  }
  std::sort(table.encodings.begin(), table.encodings.end(), encoding_before);
  for (auto& [label, row] : rows) {
    if (const auto own = labels.of_task.find(label); own != labels.of_task.end()) row.settings = own->second;
    table.rows.push_back(std::move(row));
  }
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

bool are_independent(const std::set<Draw>& draws) {
  const auto differ_or_agree = [&](std::int64_t Draw::*seed) {
    std::set<std::int64_t> seeds;
    for (const Draw& draw : draws) seeds.insert(draw.*seed);
    return seeds.size() == 1 || seeds.size() == draws.size();
  };
  return differ_or_agree(&Draw::seed) && differ_or_agree(&Draw::data_seed);
}

bool is_lowest_best(const ResultTable& table) {
  return !table.rows.empty() &&
         std::ranges::none_of(table.rows, [](const TableRow& row) { return row.metric.greater_is_better; });
}

std::string_view aggregate_phrase(const ResultTable& table, Aggregate aggregate) {
  const auto is_lower = [](const TableRow& row) { return !row.metric.greater_is_better; };
  const bool is_usual = aggregate != Aggregate::kMax || std::ranges::none_of(table.rows, is_lower);
  if (is_usual) return aggregate_phrase(aggregate);
  return is_lowest_best(table) ? "the minimum" : "the best";
}

bool are_pairs_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells) {
  const auto measurement = [&](const TableCell* cell) {
    const TableRun& run = any_run(table, *cell);
    const EvaluationConfig& evaluation = run.config.evaluation;
    const TextEvaluation& text = evaluation.text;
    return std::tuple(run.scored_lengths, evaluation.samples, evaluation.eval_dropout, text.part,
                      text.protocol, text.last, text.stride, text.windows,
                      evaluation.of_text ? longest_window(evaluation) : 0);
  };
  return std::ranges::all_of(
      cells, [&](const TableCell* cell) { return measurement(cell) == measurement(cells.front()); });
}

bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells) {
  std::set<std::set<std::int64_t>> seeds;
  for (const TableCell* const cell : cells) seeds.insert(seeds_of(table, *cell));
  return seeds.size() <= 1 && are_pairs_measured_alike(table, cells);
}

}  // namespace che
