#include "tables/run_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/analysis/training_outcome.h"
#include "tables/result_notes.h"

namespace che {
namespace {

Note units(const char* text) { return {NoteKind::kReading, text}; }

// Empty where it is not known.
TableValue learning_rate(const TableRun& run) {
  return run.config.is_foreign() ? TableValue() : TableValue(run.config.learning_rate);
}

std::optional<double> training_accuracy(const TableRun& run) {
  if (run.metrics.empty()) return std::nullopt;
  return final_training_accuracy(run.metrics);
}

// A standard error in points.
std::string error_text(double error) { return fmt::format("{:.2f}", 100 * error); }

PrintedTable print(const ResultTable& table, const RunTableOptions& options) {
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
                  {.title = "score"},
                  {.title = "se"}},
      .rows = {},
      .footnotes = {},
      .notes = {units(
          "Accuracies and scores in percent, loss in nats per output symbol, of the last row of metrics; "
          "training accuracy over the last tenth of the steps; seconds of training and evaluation, for "
          "runs of one job those of the whole job; se, the standard error of the score from its test "
          "samples.")}};
  for (const TableRun& run : table.runs) {
    const bool has_diverged = run.training && run.training->diverged;
    PrintedCell state{.text = run.state() + (has_diverged ? ", diverged" : "")};
    if (!run.score && options.reasons) {
      printed.footnotes.push_back(fmt::format("{}: {}.", run.id, missing_reason(run)));
      state.footnote = printed.footnotes.size();
    }
    const bool measured = !run.metrics.empty();
    const auto link = [&](const char* file, bool exists = true) {
      return exists && !options.urls.empty()
                 ? fmt::format("{}/runs/{}/{}", options.urls.at(run.experiment), run.id, file)
                 : std::string();
    };
    const double seconds = run.status.training_seconds + run.status.evaluation_seconds;
    PrintedRow row{.group = std::string(level_name(table.row(run.task).level)), .cells = {}};
    row.cells = {{.text = run.task.text()},
                 {.text = run.encoding.text(), .link = link("")},
                 std::move(state),
                 {.text = fmt::format("{}", run.config.seed), .value = static_cast<double>(run.config.seed)},
                 {.text = fmt::format("{}", run.config.learning_rate), .value = run.config.learning_rate},
                 {.text = fmt::format("{}", run.status.step), .value = static_cast<double>(run.status.step)},
                 {.text = fmt::format("{:.0f}", seconds), .value = seconds}};
    if (run.config.is_foreign())
      std::fill(row.cells.end() - 3, row.cells.end(), PrintedCell{.text = kNoNumber});
    row.cells.push_back(measured ? PrintedCell{.text = fmt::format("{:.4g}", run.metrics.back().loss),
                                               .link = link("metrics.csv"),
                                               .value = run.metrics.back().loss}
                                 : PrintedCell{.text = kNoNumber});
    row.cells.push_back(number_cell(training_accuracy(run), percent));
    if (run.training && !run.training->trained) row.cells.back().sign = kUntrainedSign;
    row.cells.push_back({.text = run.score ? percent(*run.score) : kNoNumber,
                         .link = link("evaluation.csv", run.score.has_value()),
                         .value = run.score});
    row.cells.push_back(number_cell(run.score_error, error_text));
    printed.rows.push_back(std::move(row));
  }
  if (std::ranges::any_of(table.runs,
                          [](const TableRun& run) { return run.training && !run.training->trained; })) {
    printed.notes.push_back(untrained_note("the run did not reach"));
  }
  if (std::ranges::any_of(table.runs,
                          [](const TableRun& run) { return run.training && run.training->diverged; })) {
    printed.notes.push_back(
        units("Diverged: the training loss at the end is above that of a model without training."));
  }
  append_provenance(printed.notes, table);
  return printed;
}

DataTable data(const ResultTable& table) {
  DataTable data{
      .columns = {"run",
                  "task",
                  "encoding",
                  "seed",
                  "data_seed",
                  "learning_rate",
                  "steps",
                  "state",
                  "score",
                  "score_se",
                  "training_loss",
                  "training_accuracy",
                  "trained",
                  "diverged",
                  "training_seconds",
                  "evaluation_seconds",
                  "git_commit",
                  "device",
                  "updated",
                  "error"},
      .rows = {},
      .notes = {units(
          "Accuracies and scores are fractions, 0 to 1, loss in nats per output symbol, of the last row "
          "of metrics; training_accuracy over the last tenth of the steps; seconds of runs of one job "
          "are those of the whole job; score_se is the standard error of the score from its test samples.")}};
  append_provenance(data.notes, table);
  for (const TableRun& run : table.runs) {
    const bool measured = !run.metrics.empty();
    const bool is_foreign = run.config.is_foreign();
    data.rows.push_back({run.id,
                         run.task.text(),
                         run.encoding.text(),
                         run.config.seed,
                         is_foreign ? TableValue() : TableValue(run.config.data_seed),
                         learning_rate(run),
                         is_foreign ? TableValue() : TableValue(run.status.step),
                         run.state(),

                         table_value(run.score),
                         table_value(run.score_error),
                         table_value(measured ? std::optional(run.metrics.back().loss) : std::nullopt),
                         table_value(training_accuracy(run)),
                         run.training ? TableValue(run.training->trained ? "yes" : "no") : TableValue(),
                         run.training ? TableValue(run.training->diverged ? "yes" : "no") : TableValue(),
                         run.status.training_seconds,
                         run.status.evaluation_seconds,
                         run.status.git_commit,
                         run.status.device,
                         run.status.updated,
                         run.error()});
  }
  return data;
}

}  // namespace

Table run_table(const ResultTable& table, const RunTableOptions& options) {
  return {.title = fmt::format("Runs of the experiment {}.", table.name),
          .printed = print(table, options),
          .data = data(table)};
}

}  // namespace che
