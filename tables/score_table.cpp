#include "tables/score_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/error.h"
#include "experiments/analysis/best_encodings.h"
#include "tables/result_notes.h"
#include "tables/score_notes.h"

namespace che {
namespace {

// Scores of the trivial baselines in the order of kBaselineColumns.
constexpr std::array<const char*, 3> kBaselineColumns = {"constant", "position", "frequent"};

std::array<std::optional<double>, 3> baseline_scores(const TableRow& row) {
  if (!row.baselines) return {};
  const TrivialBaselines& baselines = *row.baselines;
  const std::optional<Baseline>& frequent = baselines.frequent_symbol;
  return {baselines.constant.score, baselines.position_only.score,
          frequent ? std::optional(frequent->score) : std::nullopt};
}

std::optional<double> paper_difference(const TableCell& cell, Aggregate aggregate) {
  if (!cell.paper || !cell.paper->is_comparable || !cell.scores) return std::nullopt;
  return cell.scores->value(aggregate) - cell.paper->score;
}

// " ±12.5" behind a mean, " [49.6 .. 84.4]" behind the others; empty for one run.
std::string spread_text(const ScoreSummary& scores, Aggregate aggregate) {
  if (const auto range = scores.range(aggregate)) {
    return fmt::format(" [{} .. {}]", percent(range->first), percent(range->second));
  }
  return scores.deviation && aggregate == Aggregate::kMean ? " \u00b1" + percent(*scores.deviation) : "";
}

PrintedCell score_cell(const TableCell* cell, const ScoreTableOptions& options) {
  if (cell == nullptr || !cell->scores) return {.text = kNoNumber};
  PrintedCell printed = number_cell(cell->scores->value(options.aggregate), percent);
  if (cell->did_not_train(options.aggregate)) printed.sign = kUntrainedSign;
  if (options.spread) printed.suffix = spread_text(*cell->scores, options.aggregate);
  std::vector<std::string> suffix;
  if (shows_paper(*cell, options.paper)) {
    const char* const sign = cell->paper->is_comparable ? "" : kOtherMethodSign;
    suffix.push_back(percent(cell->paper->score) + sign);
  }
  if (const auto difference = paper_difference(*cell, options.aggregate); options.difference && difference) {
    suffix.push_back(signed_percent(*difference));
  }
  if (!suffix.empty()) printed.suffix += fmt::format(" ({})", fmt::join(suffix, ", "));
  return printed;
}

// "reverse_string, rope: run (failed: ...); run (training, step 20 of 40)"; empty for a cell of which every
// run is finished or not begun.
std::string missing_footnote(const ResultTable& table, const TableRow& row, const EncodingLabel& encoding,
                             const TableCell& cell) {
  std::vector<std::string> runs;
  for (const std::size_t i : cell.missing) {
    const TableRun& run = table.runs[i];
    if (is_begun(run)) runs.push_back(fmt::format("{} ({})", run.id, missing_reason(run)));
  }
  if (runs.empty()) return "";
  return fmt::format("{}, {}, not counted: {}.", row.task.text(), encoding.text(), fmt::join(runs, "; "));
}

PrintedTable print(const ResultTable& table, const ScoreTableOptions& options) {
  PrintedTable printed{.group_title = "level",
                       .columns = {{.title = "task", .number = false}, {.title = "chance"}},
                       .rows = {},
                       .footnotes = {},
                       .notes = score_notes(table, options)};
  if (table.has_baselines) {
    for (const char* const column : kBaselineColumns) printed.columns.push_back({.title = column});
  }
  for (const EncodingLabel& encoding : table.encodings) {
    printed.columns.push_back({.title = encoding.form.text(), .settings = encoding.settings_text()});
  }
  for (const TableRow& row : table.rows) {
    PrintedRow& line = printed.rows.emplace_back();
    line.group = level_name(row.level);
    line.cells = {{.text = row.task.text(), .sign = row.permutation_invariant ? kInvariantSign : ""},
                  number_cell(row.chance, percent)};
    if (table.has_baselines) {
      for (const auto& score : baseline_scores(row)) line.cells.push_back(number_cell(score, percent));
    }
    const std::size_t first = line.cells.size();
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      line.cells.push_back(score_cell(cell, options));
      if (cell == nullptr) continue;
      if (options.link)
        line.cells.back().link = options.link(printed.rows.size() - 1, line.cells.size() - 1 - first);
      if (std::string text = missing_footnote(table, row, encoding, *cell); !text.empty()) {
        printed.footnotes.push_back(std::move(text));
        line.cells.back().footnote = printed.footnotes.size();
      }
    }
    std::vector<PrintedCell*> scores;
    for (std::size_t i = first; i < line.cells.size(); ++i) scores.push_back(&line.cells[i]);
    if (best_encodings(table, row, options.aggregate).is_distinct()) {
      mark_best(scores, second_encodings(table, row, options.aggregate).is_distinct());
    }
  }
  return printed;
}

TableValue best_training_accuracy(const ResultTable& table, const TableCell& cell) {
  if (!cell.scores) return {};
  const auto& training = table.runs[cell.best].training;
  return table_value(training ? std::optional(training->accuracy) : std::nullopt);
}

DataTable data(const ResultTable& table, const ScoreTableOptions& options) {
  DataTable data{.columns = {"level",
                             "task",
                             "encoding",
                             "cell",
                             "n",
                             "missing",
                             "aggregate",
                             "score",
                             "spread",
                             "max",
                             "min",
                             "mean",
                             "sd",
                             "median",
                             "iqr",
                             "q1",
                             "q3",
                             "iqm",
                             "chance",
                             "paper",
                             "difference",
                             "paper_column",
                             "paper_match",
                             "permutation_invariant",
                             "trained_runs",
                             "training_accuracy"},
                 .rows = {},
                 .notes = score_data_notes(table, options)};
  if (table.has_baselines) {
    data.columns.insert(data.columns.end(), kBaselineColumns.begin(), kBaselineColumns.end());
  }
  for (const TableRow& row : table.rows) {
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell == nullptr) continue;
      using Number = std::optional<double>;
      const auto of_scores = [&](const std::function<Number(const ScoreSummary&)>& number) {
        return table_value(cell->scores ? number(*cell->scores) : std::nullopt);
      };
      const std::optional<PaperValue> paper =
          shows_paper(*cell, std::max(options.paper, PaperValues::kComparable)) ? cell->paper : std::nullopt;
      auto& values = data.rows.emplace_back();
      values = {
          std::string(level_name(row.level)),
          row.task.text(),
          encoding.text(),
          cell->id,
          static_cast<std::int64_t>(cell->finished.size()),
          static_cast<std::int64_t>(cell->missing.size()),
          std::string(aggregate_name(options.aggregate)),
          of_scores([&](const auto& scores) -> Number { return scores.value(options.aggregate); }),
          of_scores([&](const auto& scores) -> Number { return scores.spread(options.aggregate); }),
          of_scores(&ScoreSummary::max),
          of_scores(&ScoreSummary::min),
          of_scores(&ScoreSummary::mean),
          of_scores(&ScoreSummary::deviation),
          of_scores(&ScoreSummary::median),
          of_scores([](const auto& scores) { return scores.spread(Aggregate::kMedian); }),
          of_scores([](const auto& scores) -> Number {
            return scores.quartiles ? Number(scores.quartiles->first) : std::nullopt;
          }),
          of_scores([](const auto& scores) -> Number {
            return scores.quartiles ? Number(scores.quartiles->second) : std::nullopt;
          }),
          of_scores(&ScoreSummary::iqm),
          row.chance,
          table_value(paper ? std::optional(paper->score) : std::nullopt),
          table_value(paper_difference(*cell, options.aggregate)),
          paper ? TableValue(paper->column.text()) : TableValue(),
          paper ? TableValue(paper->is_comparable ? "same_positions" : "other_positions") : TableValue(),
          row.permutation_invariant ? "yes" : "no",
          static_cast<std::int64_t>(cell->trained),
          best_training_accuracy(table, *cell)};
      if (table.has_baselines) {
        for (const auto& score : baseline_scores(row)) values.push_back(table_value(score));
      }
    }
  }
  return data;
}

}  // namespace

Table score_table(const ResultTable& table, const ScoreTableOptions& options) {
  return {.title = fmt::format("Scores of the experiment {}: {} over {}.", table.name,
                               aggregate_phrase(options.aggregate),
                               table.rates_selected ? "seeds" : "seeds and learning rates"),
          .printed = print(table, options),
          .data = data(table, options)};
}

}  // namespace che
