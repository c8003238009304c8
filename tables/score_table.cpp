#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "experiments/results/best_encodings.h"
#include "experiments/results/effects.h"
#include "experiments/statistics/score_summary.h"
#include "tables/notes.h"
#include "tables/result_tables.h"
#include "tables/units.h"

namespace che {
namespace {

constexpr const char* kQuotedSign = " (quoted)";

std::optional<double> paper_difference(const TableCell& cell, Aggregate aggregate) {
  if (!cell.paper || !cell.paper->is_comparable || !cell.scores) return std::nullopt;
  return cell.scores->value(aggregate) - cell.paper->score;
}

// " ±12.5" behind a mean, " [49.6 .. 84.4]" behind the others; empty for one run.
std::string spread_text(const ScoreSummary& scores, Aggregate aggregate, const Metric& metric) {
  if (const auto range = scores.range(aggregate)) {
    return fmt::format(" [{} .. {}]", metric.format(range->first), metric.format(range->second));
  }
  return scores.deviation && aggregate == Aggregate::kMean ? " \u00b1" + metric.format(*scores.deviation)
                                                           : "";
}

PrintedCell score_cell(const TableCell* cell, const Metric& metric, const ScoreTableOptions& options) {
  if (cell == nullptr || !cell->scores) return {.text = kNoNumber};
  PrintedCell printed = number_cell(cell->scores->value(options.aggregate), metric);
  if (cell->did_not_train(options.aggregate)) printed.sign = kUntrainedSign;
  if (options.spread) printed.suffix = spread_text(*cell->scores, options.aggregate, metric);
  std::vector<std::string> suffix;
  if (shows_paper(*cell, options.paper)) {
    const PaperValue& paper = *cell->paper;
    suffix.push_back(metric.format(paper.score) + (paper.is_comparable ? "" : kOtherMethodSign));
    if (options.spread && paper.deviation) suffix.back() += " \u00b1" + metric.format(*paper.deviation);
  }
  if (const auto difference = paper_difference(*cell, options.aggregate); options.difference && difference) {
    suffix.push_back(metric.format_difference(*difference));
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

Note quoted_note(const std::vector<QuotedScore>& shown) {
  std::set<std::string> sources;
  for (const QuotedScore& score : shown) sources.insert(score.source);
  return {
      NoteKind::kReading,
      fmt::format("Quoted, not measured here: another training, other samples and often other lengths. Not "
                  "marked and not ranked with measured scores. Sources: {}.",
                  fmt::join(sources, "; "))};
}

// Adds a column for every model that a folder quotes for a row, behind the measured ones.
void append_quoted(PrintedTable& printed, const ResultTable& table) {
  std::map<std::string, std::set<std::string>> entries;  // By model.
  for (const QuotedScore& score : table.quoted) entries[score.model].insert(score.entry);
  std::map<std::string, std::size_t> places;  // By title.
  std::vector<QuotedScore> shown;
  std::set<std::string> tasks_left_out;
  for (const QuotedScore& score : table.quoted) {
    const auto row = std::ranges::find(table.rows, TaskLabel{score.task}, &TableRow::task);
    if (row == table.rows.end()) {
      tasks_left_out.insert(score.task);
      continue;
    }
    shown.push_back(score);
    const bool is_one = entries[score.model].size() == 1;
    const std::string title =
        score.model + (is_one ? kQuotedSign : fmt::format(" (quoted in {})", score.entry));
    const auto [place, is_new] = places.emplace(title, printed.columns.size());
    if (is_new) {
      printed.columns.push_back({.title = title});
      for (PrintedRow& line : printed.rows) line.cells.push_back(number_cell(std::nullopt, row->metric));
    }
    PrintedRow& line = printed.rows[static_cast<std::size_t>(row - table.rows.begin())];
    line.cells[place->second] = number_cell(score.score, row->metric);
  }
  if (!places.empty()) printed.notes.insert(printed.notes.begin() + 1, quoted_note(shown));
  if (tasks_left_out.empty()) return;
  printed.notes.push_back(
      {NoteKind::kReading,
       fmt::format("Quoted scores are left out where no run that is shown is on their task: {}.",
                   fmt::join(tasks_left_out, ", "))});
}

PrintedTable print(const ResultTable& table, const ScoreTableOptions& options) {
  PrintedTable printed{.group_title = "level",
                       .columns = {{.title = "task", .number = false}, {.title = "chance"}},
                       .notes = score_notes(table, options)};
  for (std::string& column : baseline_columns(table)) printed.columns.push_back({.title = std::move(column)});
  for (const EncodingLabel& encoding : table.encodings) {
    printed.columns.push_back({.title = encoding.form.text(), .settings = encoding.settings_text()});
  }
  for (const TableRow& row : table.rows) {
    PrintedRow& line = printed.rows.emplace_back();
    line.group = level_name(row.level);
    line.cells = {{.text = row.task.text(), .sign = row.permutation_invariant ? kInvariantSign : ""},
                  number_cell(row.chance, row.metric)};
    for (const auto& value : baseline_values(table, row))
      line.cells.push_back(number_cell(value, row.metric));
    const std::size_t first = line.cells.size();
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      line.cells.push_back(score_cell(cell, row.metric, options));
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
    // Chance, which a mark is above, is an accuracy.
    const bool can_mark = row.level == Level::kText || row.metric.source == Metric::Source::kAccuracy;
    if (can_mark && best_encodings(table, row, options.aggregate).is_distinct()) {
      mark_best(scores, row.metric, second_encodings(table, row, options.aggregate).is_distinct());
    }
  }
  if (options.quoted) append_quoted(printed, table);
  return printed;
}

TableValue best_training_accuracy(const ResultTable& table, const TableCell& cell) {
  if (!cell.scores) return {};
  const auto& training = table.runs[cell.best].training;
  return table_value(training ? training->accuracy : std::nullopt);
}

DataTable data(const ResultTable& table, const ScoreTableOptions& options) {
  using Number = std::optional<double>;
  DataTable data{.notes = score_data_notes(table, options)};
  std::vector<std::string> columns = baseline_columns(table);
  for (std::string& column : columns) std::ranges::replace(column, ' ', '_');
  for (const PlacedCell& placed : cells_by_row(table)) {
    const TableRow& row = *placed.row;
    const TableCell& cell = *placed.cell;
    const auto number = [&](const std::function<Number(const ScoreSummary&)>& of_scores) {
      return table_value(cell.scores ? of_scores(*cell.scores) : std::nullopt);
    };
    const auto quartile = [&](double std::pair<double, double>::*which) {
      return number([&](const ScoreSummary& scores) -> Number {
        return scores.quartiles ? Number((*scores.quartiles).*which) : std::nullopt;
      });
    };
    const bool has_paper = shows_paper(cell, std::max(options.paper, PaperValues::kComparable));
    const PaperValue paper = has_paper ? *cell.paper : PaperValue();
    // It is not known whether models outside che trained, or runs whose training metrics are lost.
    const bool is_trained_known =
        row.level != Level::kText && (cell.finished.empty() || cell.trained + cell.untrained > 0);
    std::vector<std::pair<const char*, TableValue>> values = {
        {"level", std::string(level_name(row.level))},
        {"task", row.task.text()},
        {"encoding", placed.encoding->text()},
        {"cell", cell.id},
        {"n", static_cast<std::int64_t>(cell.finished.size())},
        {"missing", static_cast<std::int64_t>(cell.missing.size())},
        {"aggregate", std::string(aggregate_name(options.aggregate, row.metric))},
        {"score", number([&](const ScoreSummary& scores) { return scores.value(options.aggregate); })},
        {"spread", number([&](const ScoreSummary& scores) { return scores.spread(options.aggregate); })},
        {"max", number(&ScoreSummary::max)},
        {"min", number(&ScoreSummary::min)},
        {"mean", number(&ScoreSummary::mean)},
        {"sd", number(&ScoreSummary::deviation)},
        {"median", number(&ScoreSummary::median)},
        {"iqr", number([](const ScoreSummary& scores) { return scores.spread(Aggregate::kMedian); })},
        {"q1", quartile(&std::pair<double, double>::first)},
        {"q3", quartile(&std::pair<double, double>::second)},
        {"iqm", number(&ScoreSummary::iqm)},
        {"chance", table_value(row.chance)},
        {"paper", table_value(has_paper ? Number(paper.score) : std::nullopt)},
        {"difference", table_value(paper_difference(cell, options.aggregate))},
        {"paper_column", has_paper ? TableValue(paper.column.text()) : TableValue()},
        {"paper_match", !has_paper            ? TableValue()
                        : paper.is_comparable ? TableValue("same_positions")
                                              : TableValue("other_positions")},
        {"permutation_invariant", row.permutation_invariant ? "yes" : "no"},
        {"trained_runs",
         is_trained_known ? TableValue(static_cast<std::int64_t>(cell.trained)) : TableValue()},
        {"training_accuracy", best_training_accuracy(table, cell)}};
    const auto baselines = baseline_values(table, row);
    for (std::size_t i = 0; i < baselines.size(); ++i) {
      values.emplace_back(columns[i].c_str(), table_value(baselines[i]));
    }
    data.add_row(values);
  }
  return data;
}

}  // namespace

Table score_table(const ResultTable& table, const ScoreTableOptions& options) {
  return {.title = fmt::format("Scores of the experiment {}: {} over {}.", table.name,
                               aggregate_phrase(table, options.aggregate),
                               table.select ? "seeds" : "seeds and learning rates"),
          .printed = print(table, options),
          .data = data(table, options)};
}

Table step_table(const ResultTable& table) {
  const std::string means = "Means over the runs that were measured at the step. ";
  Table steps{
      .title = fmt::format("Scores on the way of the experiment {}.", table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "encoding", .number = false},
                              {.title = "step"},
                              {.title = "runs"},
                              {.title = "score"}},
                  .notes = {{NoteKind::kReading, means + score_units(table, "in percent") + "."}}},
      .data = {.columns = {"level", "task", "encoding", "step", "n", "score"},
               .notes = {{NoteKind::kReading, means + score_units(table, "fractions, 0 to 1") + "."}}}};
  append_provenance(steps.printed.notes, table);
  append_provenance(steps.data.notes, table);
  for (const TableRow& row : table.rows) {
    const std::string level(level_name(row.level));
    for (const EncodingLabel& encoding : table.encodings) {
      for (const auto& [step, scores] : step_scores(table, {row.task, encoding})) {
        const double mean = aggregate_of(scores, Aggregate::kMean);
        steps.printed.rows.push_back({.group = level,
                                      .cells = {{.text = row.task.text()},
                                                {.text = encoding.text()},
                                                {.text = fmt::format("{}", step)},
                                                {.text = fmt::format("{}", scores.size())},
                                                {.text = row.metric.format(mean)}}});
        steps.data.rows.push_back(
            {level, row.task.text(), encoding.text(), step, static_cast<std::int64_t>(scores.size()), mean});
      }
    }
  }
  return steps;
}

Table quoted_table(const ResultTable& table) {
  const Note note = quoted_note(table.quoted);
  Table quoted{
      .title = "Scores that entries quote.",
      .printed = {.group_title = "",
                  .columns = {{.title = "task", .number = false},
                              {.title = "model", .number = false},
                              {.title = "quoted score"},
                              {.title = "source", .number = false},
                              {.title = "entry", .number = false}},
                  .notes = {note}},
      .data = {.columns = {"task", "model", "score", "source", "entry"}, .rows = {}, .notes = {note}}};
  for (const QuotedScore& score : table.quoted) {
    PrintedRow& row = quoted.printed.rows.emplace_back();
    row.cells = {{.text = score.task},
                 {.text = score.model + kQuotedSign},
                 number_cell(score.score, Metric()),
                 {.text = score.source},
                 {.text = score.entry}};
    quoted.data.rows.push_back({score.task, score.model, score.score, score.source, score.entry});
  }
  return quoted;
}

}  // namespace che
