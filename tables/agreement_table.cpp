#include "tables/agreement_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/counted.h"
#include "experiments/paper_table.h"
#include "experiments/rank_correlation.h"
#include "tables/result_notes.h"

namespace che {
namespace {

std::string correlation_text(double correlation) { return fmt::format("{:+.2f}", correlation); }

std::string names(const std::vector<std::string>& labels) {
  return fmt::format("{}", fmt::join(labels, "; "));
}

// The columns of a row whose scores are printed as its greatest.
struct Best {
  std::vector<std::string> encodings;
  std::size_t of = 0;                   // Columns that have a score.
  std::optional<double> above_trivial;  // By how much the greatest passes the better trivial baseline.
};

Best best_here(const ResultTable& table, const TableRow& row, Aggregate aggregate) {
  std::vector<std::string> scored;
  std::vector<PrintedCell> cells;
  double greatest = 0;
  for (const std::string& encoding : table.encodings) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) continue;
    const double score = cell->scores->value(aggregate);
    scored.push_back(encoding);
    cells.push_back(number_cell(score, percent));
    greatest = std::max(greatest, score);
  }
  std::optional<double> above_trivial;
  if (row.baselines && !scored.empty()) {
    above_trivial = greatest - std::max(row.baselines->constant, row.baselines->position_only);
  }
  if (scored.size() == 1) return {.encodings = scored, .of = 1, .above_trivial = above_trivial};
  std::vector<PrintedCell*> marked;
  marked.reserve(cells.size());
  for (PrintedCell& cell : cells) marked.push_back(&cell);
  mark_best(marked);
  Best best{.encodings = {}, .of = scored.size(), .above_trivial = above_trivial};
  for (std::size_t i = 0; i < scored.size(); ++i) {
    if (cells[i].mark == Mark::kBest) best.encodings.push_back(scored[i]);
  }
  return best;
}

std::string best_text(const Best& best) {
  if (best.encodings.empty()) return kNoNumber;
  return best.of > 1 && best.encodings.size() == best.of ? fmt::format("all {} tie", best.of)
                                                         : names(best.encodings);
}

std::string paper_best_text(const std::string& task) {
  const std::vector<std::string> best = paper_best(task);
  return best.empty() ? kNoNumber : names(best);
}

PrintedRow print_row(const AgreedTask& task, const Best& best) {
  return {.group = task.level,
          .cells = {{.text = task.task},
                    {.text = fmt::format("{}", task.encodings), .value = static_cast<double>(task.encodings)},
                    number_cell(task.correlation, correlation_text),
                    number_cell(task.p, p_text),
                    number_cell(task.adjusted_p, p_text),
                    {.text = best_text(best)},
                    number_cell(best.above_trivial, signed_percent),
                    {.text = paper_best_text(task.task)}}};
}

// "; of columns that share one value of the paper one counts: rope, not randomized_rope".
std::string doubles_text(const PaperAgreement& agreement) {
  std::set<std::string> texts;
  for (const AgreedTask& task : agreement.tasks) {
    for (const auto& [left_out, counted] : task.doubles) {
      texts.insert(fmt::format("{}, not {}", counted, left_out));
    }
  }
  if (texts.empty()) return "";
  return fmt::format("; of columns that share one value of the paper one counts: {}", fmt::join(texts, "; "));
}

std::vector<std::string> notes(const PaperAgreement& agreement, const ResultTable& table) {
  std::vector<std::string> notes = {
      fmt::format(
          "rho: Spearman's rank correlation, over the encodings that have a score here and a value in "
          "the paper, of {} over a cell's runs with the paper's value: +1 for the same order, -1 for "
          "the reverse, none where one side is all ties or fewer than {} encodings count. Ties have the "
          "mean of their ranks{}.",
          aggregate_phrase(agreement.aggregate), kFewestRanked, doubles_text(agreement)),
      fmt::format(
          "p: two-sided permutation test, {} random orders. Holm: adjusted over the tasks that have one.",
          kRandomOrders),
      "Best: of all columns here, as printed; of all columns of the paper's table there."};
  for (std::string& note : baseline_notes(table)) notes.push_back(std::move(note));
  notes.emplace_back(
      "Above trivial: the best here minus the better of both baselines. Where it is not well above 0, the "
      "order of the encodings tells little.");
  if (agreement.mean) {
    notes.push_back(fmt::format("Mean of rho over the tasks that have one, {} of {}: {}.", agreement.ranked,
                                agreement.tasks.size(), correlation_text(*agreement.mean)));
  }
  const auto missing = std::ranges::count_if(table.runs, [](const TableRun& run) { return !run.score; });
  if (missing > 0) {
    notes.push_back(fmt::format("Without a score and not counted: {} of {}.", missing,
                                counted(table.runs.size(), "run")));
  }
  notes.push_back(paper_note());
  for (std::string& note : provenance_notes(table)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

Table agreement_table(const PaperAgreement& agreement, const ResultTable& table) {
  Table result{
      .title = fmt::format("Order of the encodings in the experiment {} and in the paper.", table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "ranked"},
                              {.title = "rho"},
                              {.title = "p"},
                              {.title = "p (Holm)"},
                              {.title = "best here", .number = false},
                              {.title = "above trivial"},
                              {.title = "best in the paper", .number = false}},
                  .rows = {},
                  .footnotes = {},
                  .notes = notes(agreement, table)},
      .data = {.columns = {"level", "task", "aggregate", "ranked", "spearman", "p", "p_holm", "best",
                           "above_trivial", "paper_best"},
               .rows = {},
               .notes = notes(agreement, table)}};
  for (std::size_t i = 0; i < agreement.tasks.size(); ++i) {
    const AgreedTask& task = agreement.tasks[i];
    const Best best = best_here(table, table.rows[i], agreement.aggregate);
    result.printed.rows.push_back(print_row(task, best));
    result.data.rows.push_back({task.level, task.task, std::string(aggregate_name(agreement.aggregate)),
                                static_cast<std::int64_t>(task.encodings), table_value(task.correlation),
                                table_value(task.p), table_value(task.adjusted_p), names(best.encodings),
                                table_value(best.above_trivial), names(paper_best(task.task))});
  }
  return result;
}

}  // namespace che
