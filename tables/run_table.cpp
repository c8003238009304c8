#include "tables/run_table.h"

#include <fmt/format.h>

#include "tables/result_notes.h"

namespace che {
namespace {

std::string level_of(const ResultTable& table, const TableRun& run) {
  for (const TableRow& row : table.rows) {
    if (row.task == run.task) return row.level;
  }
  return "";
}

PrintedTable print(const ResultTable& table) {
  PrintedTable printed{
      .group_title = "level",
      .columns = {{.title = "task", .number = false},
                  {.title = "encoding", .number = false},
                  {.title = "state", .number = false},
                  {.title = "seed"},
                  {.title = "learning rate"},
                  {.title = "steps"},
                  {.title = "seconds"},
                  {.title = "training loss"},
                  {.title = "training accuracy"},
                  {.title = "score"}},
      .rows = {},
      .footnotes = {},
      .notes = {"Accuracies and scores in percent, loss in nats an output symbol; seconds of "
                "training and evaluation, for runs of one job those of the whole job."}};
  for (const TableRun& run : table.runs) {
    PrintedCell state{.text = run.status.state};
    if (!run.score) {
      printed.footnotes.push_back(fmt::format("{}: {}.", run.id, missing_reason(run)));
      state.footnote = printed.footnotes.size();
    }
    const double seconds = run.status.training_seconds + run.status.evaluation_seconds;
    PrintedRow row{.group = level_of(table, run), .cells = {}};
    row.cells = {{.text = run.task},
                 {.text = run.encoding},
                 std::move(state),
                 {.text = fmt::format("{}", run.config.seed), .value = static_cast<double>(run.config.seed)},
                 {.text = fmt::format("{}", run.config.learning_rate), .value = run.config.learning_rate},
                 {.text = fmt::format("{}", run.status.step), .value = static_cast<double>(run.status.step)},
                 {.text = fmt::format("{:.0f}", seconds), .value = seconds}};
    if (!run.metrics.empty()) {
      row.cells.push_back(
          {.text = fmt::format("{:.4g}", run.metrics.back().loss), .value = run.metrics.back().loss});
      row.cells.push_back(
          {.text = percent(run.metrics.back().accuracy), .value = run.metrics.back().accuracy});
    } else {
      row.cells.insert(row.cells.end(), 2, {.text = kNoNumber});
    }
    row.cells.push_back({.text = run.score ? percent(*run.score) : kNoNumber, .value = run.score});
    printed.rows.push_back(std::move(row));
  }
  for (std::string& note : provenance_notes(table)) printed.notes.push_back(std::move(note));
  return printed;
}

DataTable data(const ResultTable& table) {
  DataTable data{.columns = {"run", "task", "encoding", "seed", "learning_rate", "steps", "state", "score",
                             "training_loss", "training_accuracy", "training_seconds", "evaluation_seconds",
                             "git_commit", "device", "updated", "error"},
                 .rows = {},
                 .notes = provenance_notes(table)};
  data.notes.emplace(data.notes.begin(),
                     "Accuracies and scores are fractions, 0 to 1, loss in nats an output symbol; seconds of "
                     "runs of one job are those of the whole job.");
  for (const TableRun& run : table.runs) {
    const bool measured = !run.metrics.empty();
    data.rows.push_back({run.id, run.task, run.encoding, run.config.seed, run.config.learning_rate,
                         run.status.step, run.status.state, table_value(run.score),
                         table_value(measured ? std::optional(run.metrics.back().loss) : std::nullopt),
                         table_value(measured ? std::optional(run.metrics.back().accuracy) : std::nullopt),
                         run.status.training_seconds, run.status.evaluation_seconds, run.status.git_commit,
                         run.status.device, run.status.updated, run.status.error});
  }
  return data;
}

}  // namespace

Table run_table(const ResultTable& table) {
  return {.title = fmt::format("Runs of the experiment {}.", table.name),
          .printed = print(table),
          .data = data(table)};
}

}  // namespace che
