#include "tables/agreement_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/rank_correlation.h"
#include "tables/result_notes.h"

namespace che {
namespace {

std::string correlation_text(double correlation) { return fmt::format("{:+.2f}", correlation); }

std::string names(const std::vector<std::string>& labels) {
  return fmt::format("{}", fmt::join(labels, "; "));
}

// The best of `count` encodings, for people.
std::string best_text(const std::vector<std::string>& best, std::size_t count) {
  if (best.empty()) return kNoNumber;
  return best.size() > 1 && best.size() == count ? fmt::format("all {} tie", count) : names(best);
}

PrintedRow print_row(const AgreedTask& task) {
  return {.group = task.level,
          .cells = {{.text = task.task},
                    {.text = fmt::format("{}", task.encodings), .value = static_cast<double>(task.encodings)},
                    number_cell(task.correlation, correlation_text),
                    number_cell(task.p, p_text),
                    number_cell(task.adjusted_p, p_text),
                    {.text = best_text(task.best, task.encodings)},
                    {.text = best_text(task.paper_best, task.encodings)}}};
}

std::vector<std::string> notes(const PaperAgreement& agreement, const ResultTable& table) {
  std::vector<std::string> notes = {
      fmt::format(
          "rho: Spearman's rank correlation, over the encodings that have a score here and a value in "
          "the paper, of {} over a cell's runs with the paper's value: +1 for the same order, -1 for "
          "the reverse, {} where one side is all ties or fewer than {} encodings count. Ties have the "
          "mean of their ranks. Of columns that share one value of the paper the first counts.",
          aggregate_phrase(agreement.aggregate), kNoNumber, kFewestRanked),
      fmt::format("p: two-sided permutation test, {} random orders. Holm: adjusted over the tasks tested.",
                  kRandomOrders)};
  if (agreement.mean) {
    notes.push_back(fmt::format("Mean of rho over the tasks that have one, {} of {}: {}.", agreement.ranked,
                                agreement.tasks.size(), correlation_text(*agreement.mean)));
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
                              {.title = "encodings"},
                              {.title = "rho"},
                              {.title = "p"},
                              {.title = "p (Holm)"},
                              {.title = "best here", .number = false},
                              {.title = "best in the paper", .number = false}},
                  .rows = {},
                  .footnotes = {},
                  .notes = notes(agreement, table)},
      .data = {.columns = {"level", "task", "aggregate", "encodings", "spearman", "p", "p_holm", "best",
                           "paper_best"},
               .rows = {}}};
  for (const AgreedTask& task : agreement.tasks) {
    result.printed.rows.push_back(print_row(task));
    result.data.rows.push_back({task.level, task.task, std::string(aggregate_name(agreement.aggregate)),
                                static_cast<std::int64_t>(task.encodings), table_value(task.correlation),
                                table_value(task.p), table_value(task.adjusted_p), names(task.best),
                                names(task.paper_best)});
  }
  return result;
}

}  // namespace che
