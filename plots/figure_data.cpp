#include "plots/figure_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.h"
#include "experiments/results/comparison.h"
#include "experiments/results/effects.h"
#include "experiments/store/run_rows.h"
#include "plots/curves.h"
#include "plots/figure_columns.h"

namespace che {
namespace {

using Row = FigureRow;

// The score of the best trivial baseline, or of guessing if it is better. Nothing where the columns have no
// baseline in common; see add_trivial_baselines.
std::optional<double> baseline_of(const TableRow& row) {
  if (!row.baselines) return std::nullopt;
  return std::max(row.chance.value_or(0), row.baselines->best().score);
}

// The columns of a task that have a score.
std::vector<const EncodingLabel*> scored_columns(const ResultTable& table, const TableRow& row) {
  std::vector<const EncodingLabel*> labels;
  for (const EncodingLabel& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell != nullptr && cell->scores) labels.push_back(&encoding);
  }
  return labels;
}

// The tasks of which no cell is, but for noise, above predictors without a model.
std::set<TaskLabel> tasks_at_baseline(const ResultTable& table) {
  constexpr double kNoise = 0.02;
  std::set<TaskLabel> tasks;
  for (const TableRow& row : table.rows) {
    const double floor = baseline_of(row).value_or(row.chance.value_or(0));
    const bool is_at_baseline =
        std::ranges::none_of(scored_columns(table, row), [&](const EncodingLabel* encoding) {
          return table.cell(row.task, *encoding)->scores->best > floor + kNoise;
        });
    if (is_at_baseline) tasks.insert(row.task);
  }
  return tasks;
}

// The columns of a task that have a score, the highest first; ties in the order of the table.
std::vector<const EncodingLabel*> by_score(const FigureSource& source, const TableRow& row) {
  std::vector<const EncodingLabel*> labels = scored_columns(source.table, row);
  std::ranges::stable_sort(labels, std::ranges::greater(), [&](const EncodingLabel* label) {
    return row.metric.gain(source.table.cell(row.task, *label)->scores->value(source.aggregate));
  });
  return labels;
}

// Appends the curves of all cells; `add` is told the row's beginning with the cell's rank and the aggregate,
// the cell, the curve and a point.
using AddPoint = std::function<void(Row, const TableRow&, const TableCell&, const CurvePoint&)>;
void append_curves(const FigureSource& source, Aggregate aggregate, const Measurements& measurements,
                   const AddPoint& add) {
  const FigureColumns columns(source.table);
  for (const TableRow& row : source.table.rows) {
    std::map<const EncodingLabel*, std::int64_t> ranks;
    for (const EncodingLabel* encoding : by_score(source, row))
      ranks.emplace(encoding, std::ssize(ranks) + 1);
    for (const EncodingLabel* encoding : scored_columns(source.table, row)) {
      const TableCell& cell = *source.table.cell(row.task, *encoding);
      Row beginning = begin_row(row, *encoding, columns);
      beginning.emplace_back(ranks.at(encoding));
      beginning.emplace_back(std::string(aggregate_name(aggregate, row.metric)));
      for (const CurvePoint& point : curve_of(source.table, cell, aggregate, measurements)) {
        add(beginning, row, cell, point);
      }
    }
  }
}

// The accuracy at the training lengths of the runs of a curve; nothing where it is not known.
std::optional<double> training_accuracy(const FigureSource& source, const TableCell& cell) {
  std::vector<double> known;
  for (const TableRun* run : runs_of_curve(source.table, cell, source.aggregate)) {
    if (run->training && run->training->accuracy) known.push_back(*run->training->accuracy);
  }
  if (known.empty()) return std::nullopt;
  return aggregate_of(known, source.aggregate == Aggregate::kMax ? Aggregate::kMean : source.aggregate);
}

// The pairs of columns that are compared unless others are named: each encoding with DAPE and the same one
// without it, at the same positions, and where the former's are contiguous also at randomized ones.
std::vector<std::pair<std::string, std::string>> default_pairs(const ResultTable& table) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const EncodingLabel& with : table.encodings) {
    if (!with.form.dape) continue;
    EncodingLabel without = dape_host(with);
    for (const bool randomized : {with.form.randomized, true}) {
      without.form.randomized = randomized;
      const std::pair<std::string, std::string> pair = {with.text(), without.text()};
      if (std::ranges::find(table.encodings, without) == table.encodings.end()) continue;
      if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
    }
  }
  return pairs;
}

}  // namespace

DataTable accuracy_data(const FigureSource& source) {
  DataTable data = empty_data({"rank", "aggregate", "score", "baseline", "at_baseline", "length", "runs",
                               "accuracy", "low", "high", "training_accuracy", "trained_from", "trained_to",
                               "scored_from", "scored_to", "chance", "position"});
  const auto by_length = [](const TableRun& run) {
    std::vector<std::pair<double, double>> measured;
    for (const EvaluationRow& row : rows_of_any_length(run.measured, run.config)) {
      measured.emplace_back(static_cast<double>(row.length), row.accuracy);
    }
    return measured;
  };
  const std::set<TaskLabel> at_baseline = tasks_at_baseline(source.table);
  append_curves(source, source.aggregate, by_length,
                [&](Row row, const TableRow& task, const TableCell& cell, const CurvePoint& point) {
                  const TableRun& best = source.table.runs[cell.best];
                  std::vector<double> by_position;
                  if (task.baselines) {
                    for (const TrivialBaselines::AtLength& at : task.baselines->lengths) {
                      const auto length = static_cast<double>(at.length);
                      if (length >= point.first && length <= point.last)
                        by_position.push_back(at.position_only);
                    }
                  }
                  const auto position = by_position.empty()
                                            ? std::nullopt
                                            : std::optional(aggregate_of(by_position, Aggregate::kMean));
                  std::vector<std::int64_t> lengths;
                  for (const auto& [length, accuracy] : by_length(best)) {
                    if (length >= point.first && length <= point.last) {
                      lengths.push_back(static_cast<std::int64_t>(length));
                    }
                  }
                  const auto chance = task.chance_at(lengths);
                  const auto length = [&](std::int64_t TrainingConfig::*bound) {
                    return best.config.is_foreign() ? TableValue() : TableValue(best.config.training.*bound);
                  };
                  add_row(data, std::move(row),
                          {cell.scores->value(source.aggregate), table_value(baseline_of(task)),
                           yes_or_no(at_baseline.contains(task.task)), point.x, count_value(point.runs),
                           point.y, point.low, point.high, table_value(training_accuracy(source, cell)),
                           length(&TrainingConfig::first_length), length(&TrainingConfig::last_length),
                           best.scored_lengths.front(), best.scored_lengths.back(), table_value(chance),
                           table_value(position)});
                });
  return data;
}

DataTable difference_data(const FigureSource& source) {
  const ResultTable& table = source.table;
  DataTable data{.columns = {"level", "task", "length"}, .rows = {}};
  for (const char* side : {"one_", "other_"}) {
    for (const char* name : FigureColumns::kNames) data.columns.push_back(std::string(side) + name);
  }
  for (const char* name :
       {"aggregate", "pairs", "other_seeds", "difference", "low", "high", "p_holm", "one_runs",
        "one_untrained", "other_runs", "other_untrained", "paper", "paper_match"}) {
    data.columns.emplace_back(name);
  }
  const FigureColumns columns(table);
  const Aggregate aggregate = source.aggregate == Aggregate::kMax ? Aggregate::kMean : source.aggregate;
  for (const auto& [one, other] : source.compared.empty() ? default_pairs(table) : source.compared) {
    std::optional<Comparison> comparison;
    try {
      comparison = compare(table, one, other, aggregate,
                           source.by_length ? ComparisonRows::kLengths : ComparisonRows::kTasks);
    } catch (const Error&) {
      if (!source.compared.empty()) throw;
      continue;  // These two have no runs that can be compared.
    }
    for (const ComparedTask& task : comparison->tasks) {
      if (std::min(task.seeds, task.other_seeds) < 2 || !task.difference) continue;
      Row row = {std::string(level_name(task.level)), task.task.text(),
                 task.length ? TableValue(*task.length) : TableValue()};
      columns.append(row, task.task, comparison->one);
      columns.append(row, task.task, comparison->other);
      const std::optional<PaperValue>& one_paper = table.cell(task.task, comparison->one)->paper;
      const std::optional<PaperValue>& other_paper = table.cell(task.task, comparison->other)->paper;
      const bool has_paper = one_paper && other_paper && !task.length;
      const bool is_same = has_paper && one_paper->is_comparable && other_paper->is_comparable;
      add_row(data, std::move(row),
              {std::string(aggregate_name(aggregate)), count_value(task.seeds),
               task.paired ? TableValue() : count_value(task.other_seeds), *task.difference,
               table_value(task.interval ? std::optional(task.interval->low) : std::nullopt),
               table_value(task.interval ? std::optional(task.interval->high) : std::nullopt),
               table_value(task.adjusted_p), count_value(task.one_runs.counted),
               count_value(task.one_runs.untrained), count_value(task.other_runs.counted),
               count_value(task.other_runs.untrained),
               has_paper ? TableValue(one_paper->score - other_paper->score) : TableValue(),
               has_paper ? TableValue(std::string(is_same ? "same_positions" : "other_positions"))
                         : TableValue()});
    }
  }
  return data;
}

DataTable map_data(const FigureSource& source) {
  DataTable data = empty_data({"aggregate", "runs", "unfinished", "score", "trained", "paper", "baseline",
                               "chance", "permutation_invariant"});
  const FigureColumns columns(source.table);
  for (const TableRow& row : source.table.rows) {
    for (const EncodingLabel* encoding : scored_columns(source.table, row)) {
      const TableCell& cell = *source.table.cell(row.task, *encoding);
      const bool has_paper = cell.paper && cell.paper->is_comparable;
      add_row(data, begin_row(row, *encoding, columns),
              {std::string(aggregate_name(source.aggregate, row.metric)), count_value(cell.finished.size()),
               count_value(cell.missing.size()), cell.scores->value(source.aggregate),
               cell.is_training_known(source.aggregate) ? yes_or_no(!cell.did_not_train(source.aggregate))
                                                        : TableValue(),
               has_paper ? TableValue(cell.paper->score) : TableValue(), table_value(baseline_of(row)),
               table_value(row.chance), yes_or_no(row.permutation_invariant)});
    }
  }
  return data;
}

DataTable run_data(const FigureSource& source) {
  DataTable data = empty_data(
      {"at_baseline", "run", "seed", "learning_rate", "score", "median", "trained", "chance", "baseline"});
  const FigureColumns columns(source.table);
  const std::set<TaskLabel> at_baseline = tasks_at_baseline(source.table);
  for (const TableRow& row : source.table.rows) {
    for (const EncodingLabel* encoding : scored_columns(source.table, row)) {
      const TableCell& cell = *source.table.cell(row.task, *encoding);
      if (cell.finished.size() < 2) continue;
      for (const std::size_t i : cell.finished) {
        const TableRun& run = source.table.runs[i];
        add_row(data, begin_row(row, *encoding, columns),
                {yes_or_no(at_baseline.contains(row.task)), run.id, run.config.seed,
                 run.config.is_foreign() ? TableValue() : TableValue(run.config.learning_rate), *run.score,
                 cell.scores->median, run.training ? yes_or_no(run.training->trained) : TableValue(),
                 table_value(row.chance), table_value(baseline_of(row))});
      }
    }
  }
  return data;
}

DataTable perplexity_data(const FigureSource& source) {
  DataTable data =
      empty_data({"aggregate", "length", "runs", "score", "low", "high", "trained_to", "longest_window"});
  const FigureColumns columns(source.table);
  for (const TableRow& row : source.table.rows) {
    for (const EncodingLabel* encoding : scored_columns(source.table, row)) {
      const TableCell& cell = *source.table.cell(row.task, *encoding);
      std::vector<double> scores;
      for (const std::size_t run : cell.finished) scores.push_back(*source.table.runs[run].score);
      const auto [low, high] = std::ranges::minmax_element(scores);
      const RunConfig& config = source.table.runs[cell.finished.front()].config;
      // A panel shows all lengths of a corpus and a training length.
      TaskLabel panel = row.task;
      std::erase_if(panel.settings,
                    [](const SettingValue& setting) { return setting.path == "task.length"; });
      Row beginning = begin_row(row, *encoding, columns);
      beginning[1] = panel.text();
      add_row(data, std::move(beginning),
              {std::string(aggregate_name(source.aggregate, row.metric)), config.evaluation.lengths().front(),
               count_value(scores.size()), cell.scores->value(source.aggregate), *low, *high,
               config.training.last_length,
               config.evaluation.text.windows == WindowChoice::kAligned
                   ? TableValue(longest_window(config.evaluation))
                   : TableValue()});
    }
  }
  return data;
}

DataTable position_data(const FigureSource& source) {
  DataTable data =
      empty_data({"rank", "aggregate", "position", "runs", "perplexity", "low", "high", "trained_to"});
  // At the middle of a bin, by the tokens of the window that a prediction has read.
  const auto by_position = [](const TableRun& run) {
    std::vector<std::pair<double, double>> measured;
    for (const PositionLoss& one : run.evaluation.front().positions) {
      const double read = static_cast<double>(one.first) + (static_cast<double>(one.count) + 1) / 2;
      if (std::isfinite(one.loss)) measured.emplace_back(read, std::exp(one.loss));
    }
    return measured;
  };
  append_curves(source, source.aggregate, by_position,
                [&](Row row, const TableRow&, const TableCell& cell, const CurvePoint& point) {
                  const std::int64_t trained_to = source.table.runs[cell.best].config.training.last_length;
                  add_row(data, std::move(row),
                          {point.x, count_value(point.runs), point.y, point.low, point.high, trained_to});
                });
  return data;
}

DataTable learning_data(const FigureSource& source) {
  DataTable data = empty_data({"rank", "aggregate", "step", "runs", "loss", "low", "high"});
  const auto by_step = [](const TableRun& run) {
    std::vector<std::pair<double, double>> measured;
    for (const MetricsRow& row : run.metrics()) {
      if (std::isfinite(row.loss)) measured.emplace_back(static_cast<double>(row.step), row.loss);
    }
    return measured;
  };
  append_curves(
      source, Aggregate::kMedian, by_step,
      [&](Row row, const TableRow&, const TableCell&, const CurvePoint& point) {
        add_row(data, std::move(row), {point.x, count_value(point.runs), point.y, point.low, point.high});
      });
  return data;
}

DataTable step_data(const FigureSource& source) {
  DataTable data = empty_data({"rank", "aggregate", "step", "runs", "score", "low", "high", "chance"});
  const auto by_step = [](const TableRun& run) {
    std::vector<std::pair<double, double>> measured;
    if (run.at_steps().empty()) return measured;
    for (const auto& [step, score] : step_scores(run))
      measured.emplace_back(static_cast<double>(step), score);
    return measured;
  };
  append_curves(
      source, source.aggregate, by_step,
      [&](Row row, const TableRow& task, const TableCell&, const CurvePoint& point) {
        add_row(data, std::move(row),
                {point.x, count_value(point.runs), point.y, point.low, point.high, table_value(task.chance)});
      });
  return data;
}

DataTable effect_data(const FigureSource& source) {
  constexpr std::size_t kLeastValues = 3;
  DataTable data = empty_data(
      {"setting", "setting_value", "aggregate", "runs", "score", "low", "high", "without_dape", "baseline"});
  const FigureColumns columns(source.table);
  for (const SettingEffect& effect : setting_effects(source.table)) {
    for (const TableRow& row : source.table.rows) {
      const auto lines = effect.scores.find(row.task);
      if (lines == effect.scores.end()) continue;
      for (const auto& [label, values] : lines->second) {
        if (values.size() < kLeastValues) continue;
        std::optional<double> without_dape;
        if (const auto task = effect.without_dape.find(row.task); task != effect.without_dape.end()) {
          const auto scores = task->second.find(label);
          if (scores != task->second.end()) {
            without_dape = aggregate_of(scores->second, source.aggregate, row.metric);
          }
        }
        for (const auto& [value, scores] : values) {
          const auto [low, high] = std::ranges::minmax_element(scores);
          add_row(data, begin_row(row, label, columns, effect.path),
                  {effect.path, value, std::string(aggregate_name(source.aggregate, row.metric)),
                   count_value(scores.size()), aggregate_of(scores, source.aggregate, row.metric), *low,
                   *high, table_value(without_dape), table_value(baseline_of(row))});
        }
      }
    }
  }
  return data;
}

void add_choice(DataTable& data, const ResultTable& table) {
  const auto runs = table.by_stored_run();
  const auto finished = std::ranges::count_if(runs, [](const auto& run) {
    return std::ranges::all_of(run, [](const TableRun* entry) { return entry->score.has_value(); });
  });
  data.columns.insert(data.columns.end(),
                      {"score_lengths", "only", "skip", "select", "finished_runs", "all_runs"});
  for (Row& row : data.rows) {
    row.emplace_back(table.score_lengths);
    row.emplace_back(fmt::format("{}", fmt::join(table.conditions.only, " and ")));
    row.emplace_back(fmt::format("{}", fmt::join(table.conditions.skip, " or ")));
    row.emplace_back(table.select ? selection_rule_name(*table.select) : "");
    row.push_back(count_value(static_cast<std::size_t>(finished)));
    row.push_back(count_value(runs.size()));
  }
}

}  // namespace che
