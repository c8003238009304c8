#include "experiments/analysis/result_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/analysis/display_order.h"
#include "experiments/analysis/models_left_out.h"
#include "experiments/analysis/rate_selection.h"
#include "experiments/analysis/task_versions.h"
#include "experiments/plan/identity.h"
#include "experiments/store/experiment_folder.h"
#include "tasks/task.h"

namespace che {
namespace {

// The rows that the score of a finished run is the mean of; none where one is missing.
std::vector<EvaluationRow> scored_rows(const std::vector<EvaluationRow>& rows, const RunConfig& config,
                                       const ReadingRules& rules) {
  if (!rules.score_lengths) {
    return score(rows, config) ? present_rows(rows, config) : std::vector<EvaluationRow>();
  }
  std::vector<EvaluationRow> scored = rows_of_any_length(rows, config);
  std::erase_if(scored, [&](const EvaluationRow& row) { return !rules.score_lengths->contains(row.length); });
  return scored;
}

std::vector<std::int64_t> lengths_asked(const RunConfig& config, const ReadingRules& rules) {
  std::vector<std::int64_t> lengths = config.evaluation.lengths();
  if (rules.score_lengths) {
    std::erase_if(lengths, [&](std::int64_t length) { return !rules.score_lengths->contains(length); });
  }
  return lengths;
}

void refuse_without_score(const TableRun& run, const std::vector<EvaluationRow>& rows,
                          const LengthChoice& lengths) {
  std::vector<std::int64_t> measured;
  for (const EvaluationRow& row : rows_of_any_length(rows, run.config)) measured.push_back(row.length);
  throw Error(fmt::format("--score-lengths {}: {} was measured at none of these lengths; it was at {}",
                          lengths.text(), run.id, measured.empty() ? "none" : lengths_option(measured)));
}

// `config`: the folder's, or one that differs in what its encoding is evaluated with.
TableRun make_run(const RunFolder& folder, const RunConfig& config, const StoredRun& stored,
                  const ReadingRules& rules, TrainingJudge& judge) {
  TableRun run{.id = folder.id(),
               .task = {},
               .encoding = {},
               .config = config,
               .status = stored.status,
               .score = std::nullopt,
               .score_error = std::nullopt,
               .evaluation = {},
               .scored_lengths = lengths_asked(config, rules),
               .measured = {},
               .at_steps = stored.at_steps,
               .missing_lengths = 0,
               .metrics = stored.metrics,
               .damage = stored.damage_text(),
               .training = std::nullopt};
  if (!run.damage.empty()) run.at_steps.clear();
  const bool is_finished = run.damage.empty() && run.status.state == RunState::kFinished;
  // A run that still trains is not judged.
  if (is_finished) run.training = judge.judge(run.config, run.metrics);
  const std::vector<EvaluationRow>& rows = stored.evaluation;
  if (is_finished) run.evaluation = scored_rows(rows, config, rules);
  run.score = mean_accuracy(run.evaluation);
  if (run.score) {
    run.score_error = mean_accuracy_error(run.evaluation);
    run.scored_lengths.clear();
    for (const EvaluationRow& row : run.evaluation) run.scored_lengths.push_back(row.length);
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
std::vector<TableRun> make_runs(const RunFolder& folder, const StoredRun& stored, const ReadingRules& rules,
                                TrainingJudge& judge) {
  std::vector<TableRun> runs{make_run(folder, folder.config(), stored, rules, judge)};
  const bool is_finished = runs[0].damage.empty() && runs[0].status.state == RunState::kFinished;
  if (rules.score_lengths && is_finished && !runs[0].score) {
    refuse_without_score(runs[0], stored.evaluation, *rules.score_lengths);
  }
  std::set<OptionValues> settings;
  for (const EvaluationRow& row : stored.evaluation) settings.insert(row.encoding_settings);
  settings.erase(folder.config().encoding.evaluation_settings());
  for (const OptionValues& other : settings) {
    RunConfig config = folder.config();
    config.encoding = config.encoding.with_evaluation_settings(other);
    TableRun run = make_run(folder, config, stored, rules, judge);
    if (run.score) runs.push_back(std::move(run));
  }
  return runs;
}

// Over the test lengths.
double mean_chance(const Task& task, const std::vector<std::int64_t>& lengths) {
  double sum = 0;
  for (const std::int64_t length : lengths) sum += task.chance_at(length);
  return sum / static_cast<double>(lengths.size());
}

TableRow make_row(const TableRun& run) {
  const auto task = create_task(run.config.task);
  const bool is_declared = run.config.task.is_declared();
  return {.level = task->level(),
          .task = run.task,
          .chance = is_declared
                        ? mean_chance(*task, run.scored_lengths.empty() ? run.config.evaluation.lengths()
                                                                        : run.scored_lengths)
                        : task->chance(),
          .permutation_invariant =
              !is_declared && Registry<TaskEntry>::instance().get(task->name()).permutation_invariant,
          .settings = {},
          .baselines = std::nullopt};
}

void fill_cells(ResultTable& table) {
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const TableRun& run = table.runs[i];
    TableCell& cell = table.cells[{run.task, run.encoding}];
    if (cell.id.empty()) {
      cell.id = cell_id(run.config);
      if (!run.config.is_foreign()) cell.paper = paper_value(run.task, run.config.encoding);
    }
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
    if (scores.empty()) continue;
    cell.scores = summarize(std::move(scores));
    const TableRun& best = table.runs[cell.best];
    cell.best_trained = !best.training || best.training->trained;
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

// Whether both measure on as many samples of the same lengths.
bool same_samples(const TableRun& one, const TableRun& other) {
  return one.scored_lengths == other.scored_lengths &&
         one.config.evaluation.samples == other.config.evaluation.samples;
}

}  // namespace

const TableRow& ResultTable::row(const TaskLabel& task) const {
  return *std::ranges::find(rows, task, &TableRow::task);
}

const TableCell* ResultTable::cell(const TaskLabel& task, const EncodingLabel& encoding) const {
  const auto found = cells.find({task, encoding});
  return found == cells.end() ? nullptr : &found->second;
}

namespace {

// A stored run, and which of the folders that are read holds it.
struct FoundRun {
  RunFolder folder;
  std::size_t experiment = 0;
};

// Gives the columns that several entries have the names of these.
void name_entries(std::vector<TableRun>& runs, const std::vector<std::string>& entries) {
  std::map<EncodingLabel, std::set<std::size_t>> entries_of;
  for (const TableRun& run : runs) entries_of[run.encoding].insert(run.experiment);
  for (TableRun& run : runs) {
    if (entries_of.at(run.encoding).size() < 2) continue;
    run.encoding.settings.push_back({.path = "entry", .value = entries[run.experiment]});
  }
}

// The configs that columns are labelled by: the scored lengths that a rule chooses replace those of the
// config.
std::vector<RunConfig> configs_to_label(const std::vector<TableRun>& runs, const ReadingRules& rules) {
  std::vector<RunConfig> configs;
  configs.reserve(runs.size());
  for (const TableRun& run : runs) {
    RunConfig& config = configs.emplace_back(run.config);
    if (!rules.score_lengths) continue;
    config.evaluation = {.samples = run.config.evaluation.samples,
                         .seed = run.config.evaluation.seed,
                         .eval_dropout = run.config.evaluation.eval_dropout};
  }
  return configs;
}

// Gives the columns of a row whose runs have other lengths left under the rule the names of these.
void name_scored_lengths(std::vector<TableRun>& runs) {
  std::map<TaskLabel, std::set<std::vector<std::int64_t>>> lengths_of;
  for (const TableRun& run : runs) lengths_of[run.task].insert(run.scored_lengths);
  const auto differ = [](const auto& row) { return row.second.size() > 1; };
  if (std::ranges::none_of(lengths_of, differ)) return;
  for (TableRun& run : runs) {
    run.encoding.settings.push_back(
        {.path = "evaluation.lengths", .value = lengths_option(run.scored_lengths)});
  }
}

// The table of these runs; of several entries, where there are any, with their names (see read_entries).
ResultTable table_of(const std::vector<FoundRun>& runs, const ReadingRules& rules,
                     const std::vector<std::string>& entries) {
  std::vector<const RunFolder*> folders;
  folders.reserve(runs.size());
  for (const FoundRun& run : runs) folders.push_back(&run.folder);
  check_task_versions(folders);
  ResultTable table;
  TrainingJudge judge;
  for_each_in_order(
      runs.size(), [&](std::size_t i) { return runs[i].folder.read(); },
      [&](std::size_t i, const StoredRun& stored) {
        for (TableRun& run : make_runs(runs[i].folder, stored, rules, judge)) {
          run.experiment = runs[i].experiment;
          table.runs.push_back(std::move(run));
        }
      });
  CellLabels labels = label_cells(configs_to_label(table.runs, rules));
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    table.runs[i].task = std::move(labels.of[i].task);
    table.runs[i].encoding = std::move(labels.of[i].encoding);
  }
  table.shared_settings = std::move(labels.shared_settings);
  if (!entries.empty()) name_entries(table.runs, entries);
  if (rules.score_lengths) {
    name_scored_lengths(table.runs);
    table.reading_notes.push_back(fmt::format(
        "A score is the mean over the measured test lengths in {} (--score-lengths), whatever lengths the "
        "config of a run names.",
        rules.score_lengths->text()));
  }
  if (rules.select) {
    table.reading_notes.push_back(select_rates(table.runs, *rules.select));
    table.rates_selected = true;
  }

  std::map<TaskLabel, TableRow> rows;
  for (const TableRun& run : table.runs) {
    if (!rows.contains(run.task)) rows.emplace(run.task, make_row(run));
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

// Of "." and "quick/", too.
std::string folder_name(const std::filesystem::path& folder) {
  return std::filesystem::canonical(folder).filename().string();
}

// Columns of the table of all runs of which no run is among the chosen ones, in the order of encoding_before.
std::vector<EncodingLabel> columns_not_chosen(const std::vector<FoundRun>& all,
                                              const std::vector<FoundRun>& chosen) {
  if (chosen.size() == all.size()) return {};
  std::vector<RunConfig> configs;
  configs.reserve(all.size());
  for (const FoundRun& run : all) configs.push_back(run.folder.config());
  std::set<std::filesystem::path> kept;
  for (const FoundRun& run : chosen) kept.insert(run.folder.path());
  const CellLabels labels = label_cells(configs);
  std::set<EncodingLabel> of_chosen;
  std::set<EncodingLabel> of_others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    (kept.contains(all[i].folder.path()) ? of_chosen : of_others).insert(labels.of[i].encoding);
  }
  std::vector<EncodingLabel> columns;
  std::ranges::set_difference(of_others, of_chosen, std::back_inserter(columns));
  std::ranges::sort(columns, encoding_before);
  return columns;
}

// Of two results of one run, such as of other builds or processors; empty where the scores are printed alike.
std::string other_score_text(const RunFolder& left_out, const RunFolder& counted) {
  const auto text = [](const RunFolder& run) {
    const auto value = score(run.read().evaluation, run.config());
    return value ? fmt::format("{:.1f} %", rounded_percent(*value)) : std::string("none");
  };
  const std::string here = text(left_out);
  const std::string there = text(counted);
  return here == there ? "" : fmt::format("; scores: {} here, {} there", here, there);
}

std::string run_is_in(const std::filesystem::path& run, const std::filesystem::path& experiment) {
  return fmt::format("{}: the same run is in {}, and that one counts", run.string(), experiment.string());
}

// Those of the runs that are chosen. `left_out` receives the models outside che that the choice leaves out,
// which are warned of.
std::vector<FoundRun> chosen_of(const std::vector<FoundRun>& runs, const RunChoice& choice,
                                std::vector<std::string>& left_out) {
  std::vector<RunFolder> folders;
  std::map<std::filesystem::path, std::size_t> experiment_of;
  for (const FoundRun& run : runs) {
    folders.push_back(run.folder);
    experiment_of[run.folder.path()] = run.experiment;
  }
  std::vector<RunFolder> chosen_folders = choice.of(folders);
  for (std::string& line : models_left_out(folders, chosen_folders, choice.conditions())) {
    print_warning("left out: " + line);
    left_out.push_back(std::move(line));
  }
  std::vector<FoundRun> chosen;
  for (RunFolder& folder : chosen_folders) {
    const std::size_t experiment = experiment_of.at(folder.path());
    chosen.push_back({.folder = std::move(folder), .experiment = experiment});
  }
  return chosen;
}

}  // namespace

ResultTable make_table(const std::vector<RunFolder>& folders, const ReadingRules& rules) {
  std::vector<FoundRun> runs;
  runs.reserve(folders.size());
  for (const RunFolder& folder : folders) runs.push_back({.folder = folder});
  return table_of(runs, rules, {});
}

void warn_of_damage(const ResultTable& table, const WarningSink& warn) {
  for (const TableRun& run : table.runs) {
    if (!run.damage.empty()) warn(fmt::format("not counted: {}", run.damage));
  }
}

ResultTable read_table(const std::vector<std::filesystem::path>& experiments, const RunChoice& choice,
                       const ReadingRules& rules) {
  std::vector<std::string> left_out;
  std::vector<FoundRun> runs;
  std::map<std::string, std::size_t> index_of;  // In `runs`, by id.
  std::vector<std::string> names;
  const auto leave_out = [&](std::string reason) {
    print_warning("left out: " + reason);
    left_out.push_back(std::move(reason));
  };
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    // Of this experiment, with the score of the run that counts, by the index of its experiment.
    std::map<std::size_t, std::vector<std::filesystem::path>> same;
    for (RunFolder& run : open_runs(experiments[i], print_warning, &left_out)) {
      const auto [first, is_new] = index_of.emplace(run.id(), runs.size());
      if (is_new) {
        runs.push_back({.folder = std::move(run), .experiment = i});
        continue;
      }
      const FoundRun& counted_run = runs[first->second];
      const std::string scores = other_score_text(run, counted_run.folder);
      if (scores.empty()) {
        same[counted_run.experiment].push_back(run.path());
      } else {
        leave_out(run_is_in(run.path(), experiments[counted_run.experiment]) + scores);
      }
    }
    for (const auto& [first, paths] : same) {
      leave_out(paths.size() == 1
                    ? run_is_in(paths.front(), experiments[first])
                    : fmt::format("{}: {} runs are in {} too, with the same scores, and those count",
                                  experiments[i].string(), paths.size(), experiments[first].string()));
    }
    names.push_back(folder_name(experiments[i]));
  }
  const std::vector<FoundRun> chosen = chosen_of(runs, choice, left_out);
  ResultTable table = table_of(chosen, rules, {});
  table.not_chosen = columns_not_chosen(runs, chosen);
  table.conditions = choice.conditions();
  table.left_out = std::move(left_out);
  table.name = fmt::format("{}", fmt::join(names, " + "));
  warn_of_damage(table);
  return table;
}

ResultTable read_table(const std::filesystem::path& experiment, const RunChoice& choice,
                       const ReadingRules& rules) {
  return read_table(std::vector{experiment}, choice, rules);
}

ResultTable read_entries(const std::vector<std::filesystem::path>& entries, const RunChoice& choice,
                         const ReadingRules& rules) {
  std::vector<std::string> left_out;
  std::vector<FoundRun> runs;
  std::vector<std::string> names;
  std::vector<QuotedScore> quoted;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    names.push_back(folder_name(entries[i]));
    if (std::ranges::count(names, names.back()) > 1) {
      throw Error(fmt::format("two entries are called {}; rename one of the folders", names.back()));
    }
    const bool has_runs = std::filesystem::is_directory(entries[i] / "runs");
    std::vector<QuotedScore> of_entry = read_quoted_scores(entries[i]);
    if (!has_runs && of_entry.empty()) {
      print_warning(fmt::format("left out: '{}' is no results folder: it has neither runs nor a {}",
                                entries[i].string(), kQuotedFile));
    }
    std::ranges::move(of_entry, std::back_inserter(quoted));
    if (!has_runs) continue;
    for (RunFolder& run : open_runs(entries[i], print_warning, &left_out)) {
      runs.push_back({.folder = std::move(run), .experiment = i});
    }
  }
  if (runs.empty()) throw Error("no entry has runs; name folders that `che run` or `che score` wrote");
  ResultTable table = table_of(chosen_of(runs, choice, left_out), rules, names);
  table.conditions = choice.conditions();
  table.left_out = std::move(left_out);
  table.name = "several entries";
  table.quoted = std::move(quoted);
  warn_of_damage(table);
  return table;
}

namespace {

// All of them, or, of more than tells where marks stand within a second or two, so many in even steps from
// the first to the last.
std::vector<std::int64_t> lengths_for_marks(const std::vector<std::int64_t>& lengths) {
  constexpr std::size_t kMost = 20;
  if (lengths.size() <= kMost) return lengths;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < kMost; ++i) chosen.push_back(lengths[i * (lengths.size() - 1) / (kMost - 1)]);
  return chosen;
}

}  // namespace

void add_trivial_baselines(ResultTable& table, BaselineUse use) {
  table.has_baselines = use == BaselineUse::kShown;
  for_each_index(table.rows.size(), [&](std::size_t i) {
    TableRow& row = table.rows[i];
    const TableRun* first = nullptr;
    bool same = true;
    for (const TableRun& run : table.runs) {
      if (run.task != row.task) continue;
      if (first == nullptr) first = &run;
      same = same && is_drawn(run.config.task) && same_samples(run, *first);
    }
    if (same && !first->scored_lengths.empty()) {
      row.baselines = measure_trivial_baselines(
          first->config.task, first->config.evaluation,
          use == BaselineUse::kShown ? first->scored_lengths : lengths_for_marks(first->scored_lengths));
    }
  });
}

}  // namespace che
