#include "tables/score_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "core/counted.h"
#include "tables/result_notes.h"

namespace che {
namespace {

std::optional<double> constant_score(const TableRow& row) {
  return row.baselines ? std::optional(row.baselines->constant) : std::nullopt;
}

std::optional<double> position_score(const TableRow& row) {
  return row.baselines ? std::optional(row.baselines->position_only) : std::nullopt;
}

std::optional<double> paper_difference(const TableCell& cell, Aggregate aggregate) {
  if (!cell.paper || !cell.scores) return std::nullopt;
  return cell.scores->value(aggregate) - *cell.paper;
}

PrintedCell score_cell(const TableCell* cell, const ScoreTableOptions& options) {
  if (cell == nullptr || !cell->scores) return {.text = kNoNumber};
  PrintedCell printed = number_cell(cell->scores->value(options.aggregate), percent);
  if (const auto spread = cell->scores->spread(options.aggregate); options.spread && spread) {
    printed.beside = " \u00b1" + percent(*spread);
  }
  std::vector<std::string> beside;
  if (options.paper && cell->paper) beside.push_back(percent(*cell->paper));
  if (options.difference && cell->paper) {
    beside.push_back(signed_percent(*paper_difference(*cell, options.aggregate)));
  }
  if (!beside.empty()) printed.beside += fmt::format(" ({})", fmt::join(beside, ", "));
  return printed;
}

// "reverse_string, rope: run (failed: ...); run (training, step 20 of 40)"; empty for a cell of which every
// run is finished or not begun.
std::string missing_footnote(const ResultTable& table, const TableRow& row, const std::string& encoding,
                             const TableCell& cell) {
  std::vector<std::string> runs;
  for (const std::size_t i : cell.missing) {
    const TableRun& run = table.runs[i];
    if (is_begun(run)) runs.push_back(fmt::format("{} ({})", run.id, missing_reason(run)));
  }
  if (runs.empty()) return "";
  return fmt::format("{}, {}, not counted: {}.", row.task, encoding, fmt::join(runs, "; "));
}

std::string count_text(const ResultTable& table) {
  std::size_t least = table.runs.size();
  std::size_t most = 0;
  for (const auto& [labels, cell] : table.cells) {
    if (!cell.scores) continue;
    least = std::min(least, cell.scores->n);
    most = std::max(most, cell.scores->n);
  }
  if (most == 0) return "no run has finished";
  return least == most ? fmt::format("n = {}", most) : fmt::format("n = {}..{}", least, most);
}

void append_waiting_note(std::vector<std::string>& notes, const ResultTable& table) {
  const std::ptrdiff_t waiting = std::ranges::count_if(table.runs, std::not_fn(is_begun));
  if (waiting > 0)
    notes.push_back(fmt::format("Not begun: {} of {}.", waiting, counted(table.runs.size(), "run")));
}

bool has_paper(const ResultTable& table) {
  return std::ranges::any_of(table.cells, [](const auto& cell) { return cell.second.paper.has_value(); });
}

std::vector<std::string> notes(const ResultTable& table, const ScoreTableOptions& options) {
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("Accuracy in percent, mean over test lengths: {} over the finished runs of a cell ({}), "
                  "which differ in seed and learning rate; {}: no finished run.",
                  aggregate_phrase(options.aggregate), count_text(table), kNoNumber));
  append_waiting_note(notes, table);
  if (options.spread) {
    notes.push_back(fmt::format("After \u00b1: {} of those runs, where there are two or more.",
                                spread_phrase(options.aggregate)));
  }
  if ((options.paper || options.difference) && !has_paper(table)) {
    notes.emplace_back("The paper's table has no value for any of these cells.");
  } else if (options.paper || options.difference) {
    const char* const what = !options.difference ? "the paper's value"
                             : !options.paper    ? "ours minus the paper's value, in points"
                                                 : "the paper's value and ours minus it, in points";
    notes.push_back(fmt::format("In parentheses: {}.", what));
    notes.push_back(paper_note());
  }
  std::ranges::move(baseline_notes(table), std::back_inserter(notes));
  for (std::string& note : provenance_notes(table)) notes.push_back(std::move(note));
  return notes;
}

PrintedTable print(const ResultTable& table, const ScoreTableOptions& options) {
  PrintedTable printed{.group_title = "level",
                       .columns = {{.title = "task", .number = false}, {.title = "chance"}},
                       .rows = {},
                       .footnotes = {},
                       .notes = notes(table, options)};
  if (table.has_baselines) {
    printed.columns.insert(printed.columns.end(), {{.title = "constant"}, {.title = "position"}});
  }
  for (const std::string& encoding : table.encodings) printed.columns.push_back({.title = encoding});
  for (const TableRow& row : table.rows) {
    PrintedRow& line = printed.rows.emplace_back();
    line.group = row.level;
    line.cells = {{.text = row.task}, number_cell(row.chance, percent)};
    if (table.has_baselines) {
      line.cells.push_back(number_cell(constant_score(row), percent));
      line.cells.push_back(number_cell(position_score(row), percent));
    }
    const std::size_t first = line.cells.size();
    for (const std::string& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      line.cells.push_back(score_cell(cell, options));
      if (cell == nullptr) continue;
      if (std::string text = missing_footnote(table, row, encoding, *cell); !text.empty()) {
        printed.footnotes.push_back(std::move(text));
        line.cells.back().footnote = printed.footnotes.size();
      }
    }
    std::vector<PrintedCell*> scores;
    for (std::size_t i = first; i < line.cells.size(); ++i) scores.push_back(&line.cells[i]);
    mark_best(scores);
  }
  return printed;
}

DataTable data(const ResultTable& table, const ScoreTableOptions& options) {
  DataTable data{
      .columns = {"level", "task", "encoding", "cell", "n", "missing", "aggregate", "score", "spread", "max",
                  "min", "mean", "sd", "median", "iqr", "iqm", "chance", "paper", "difference"},
      .rows = {},
      .notes = {fmt::format(
          "Scores are fractions, 0 to 1: accuracy, mean over test lengths; n finished runs of a cell, which "
          "differ in seed and learning rate; spread: {}, of two runs or more; difference: score minus paper.",
          spread_phrase(options.aggregate))}};
  append_waiting_note(data.notes, table);
  std::ranges::move(baseline_notes(table), std::back_inserter(data.notes));
  if (has_paper(table)) data.notes.push_back(paper_note());
  for (std::string& note : provenance_notes(table)) data.notes.push_back(std::move(note));
  if (table.has_baselines) data.columns.insert(data.columns.end(), {"constant", "position"});
  for (const TableRow& row : table.rows) {
    for (const std::string& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell == nullptr) continue;
      using Number = std::optional<double>;
      const auto of_scores = [&](const std::function<Number(const ScoreSummary&)>& number) {
        return table_value(cell->scores ? number(*cell->scores) : std::nullopt);
      };
      auto& values = data.rows.emplace_back();
      values = {row.level,
                row.task,
                encoding,
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
                of_scores(&ScoreSummary::quartiles),
                of_scores(&ScoreSummary::iqm),
                row.chance,
                table_value(cell->paper),
                table_value(paper_difference(*cell, options.aggregate))};
      if (table.has_baselines) {
        values.push_back(table_value(constant_score(row)));
        values.push_back(table_value(position_score(row)));
      }
    }
  }
  return data;
}

}  // namespace

Table score_table(const ResultTable& table, const ScoreTableOptions& options) {
  return {.title = fmt::format("Scores of the experiment {}: {} over seeds and learning rates.", table.name,
                               aggregate_phrase(options.aggregate)),
          .printed = print(table, options),
          .data = data(table, options)};
}

}  // namespace che
