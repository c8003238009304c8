#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/number_text.h"
#include "experiments/plan/differences.h"
#include "experiments/results/training_outcome.h"
#include "tables/notes.h"
#include "tables/result_tables.h"
#include "tables/units.h"

namespace che {
namespace {

TableValue yes_or_no(bool value) { return std::string(value ? "yes" : "no"); }

Note units(std::string text) { return {NoteKind::kReading, std::move(text)}; }

std::optional<double> training_accuracy(const TableRun& run) {
  if (run.metrics().empty()) return std::nullopt;
  return final_training_accuracy(run.metrics());
}

// Returns nothing where the time of the training is not known, as after a lost status file.
std::optional<double> known_seconds(const TableRun& run, double seconds) {
  const bool is_known = run.status.training_seconds > 0 || run.config.training.steps == 0;
  return is_known ? std::optional(seconds) : std::nullopt;
}

// A standard error in points.
std::string error_text(double error) { return fmt::format("{:.2f}", 100 * error); }

PrintedTable printed_runs(const ResultTable& table, const RunTableOptions& options) {
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
      .notes = {
          units(score_units(table, "in percent") +
                "; loss in nats per output symbol, of the last row of metrics; "
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
    const bool measured = !run.metrics().empty();
    const auto link = [&](const char* file, bool exists = true) {
      return exists && !options.urls.empty()
                 ? fmt::format("{}/runs/{}/{}", options.urls.at(run.experiment), run.id, file)
                 : std::string();
    };
    const double seconds = run.status.training_seconds + run.status.evaluation_seconds;
    const auto rounded = [](double number) { return fmt::format("{:.0f}", number); };
    PrintedRow row{.group = std::string(level_name(table.row(run.task).level)), .cells = {}};
    row.cells = {{.text = run.task.text()},
                 {.text = run.encoding.text(), .link = link("")},
                 std::move(state),
                 {.text = fmt::format("{}", run.config.seed), .value = static_cast<double>(run.config.seed)},
                 {.text = fmt::format("{}", run.config.learning_rate), .value = run.config.learning_rate},
                 {.text = fmt::format("{}", run.status.step), .value = static_cast<double>(run.status.step)},
                 number_cell(known_seconds(run, seconds), rounded)};
    if (run.config.is_foreign())
      std::fill(row.cells.end() - 3, row.cells.end(), PrintedCell{.text = kNoNumber});
    row.cells.push_back(measured ? PrintedCell{.text = fmt::format("{:.4g}", run.metrics().back().loss),
                                               .link = link("metrics.csv"),
                                               .value = run.metrics().back().loss}
                                 : PrintedCell{.text = kNoNumber});
    row.cells.push_back(number_cell(training_accuracy(run), Metric()));
    if (run.training && !run.training->trained) row.cells.back().sign = kUntrainedSign;
    row.cells.push_back({.text = number_cell(run.score, run.metric).text,
                         .link = link("evaluation.csv", run.score.has_value()),
                         .value = run.score});
    row.cells.push_back(number_cell(run.score_error, error_text));
    printed.rows.push_back(std::move(row));
  }
  if (std::ranges::any_of(table.runs,
                          [](const TableRun& run) { return run.training && !run.training->trained; })) {
    append_untrained_note(printed.notes, "the run did not reach");
  }
  if (std::ranges::any_of(table.runs,
                          [](const TableRun& run) { return run.training && run.training->diverged; })) {
    printed.notes.push_back(
        units("Diverged: the training loss at the end is above that of a model without training."));
  }
  append_provenance(printed.notes, table);
  return printed;
}

DataTable run_data(const ResultTable& table) {
  DataTable data{
      .notes = {units(
          score_units(table, "fractions, 0 to 1") +
          "; loss in nats per output symbol, of the last row of metrics; training_accuracy over the last "
          "tenth of the steps; seconds of runs of one job "
          "are those of the whole job; score_se is the standard error of the score from its test samples.")}};
  append_provenance(data.notes, table);
  for (const TableRun& run : table.runs) {
    const bool is_foreign = run.config.is_foreign();
    const auto known = [&](const TableValue& value) { return is_foreign ? TableValue() : value; };
    const auto outcome = [&](bool TrainingOutcome::*reached) {
      return run.training ? yes_or_no((*run.training).*reached) : TableValue();
    };
    data.add_row({{"run", run.id},
                  {"task", run.task.text()},
                  {"encoding", run.encoding.text()},
                  {"seed", run.config.seed},
                  {"data_seed", known(run.config.data_seed)},
                  {"learning_rate", known(run.config.learning_rate)},
                  {"steps", known(run.status.step)},
                  {"state", run.state()},
                  {"score", table_value(run.score)},
                  {"score_se", table_value(run.score_error)},
                  {"training_loss", run.metrics().empty() ? TableValue() : run.metrics().back().loss},
                  {"training_accuracy", table_value(training_accuracy(run))},
                  {"trained", outcome(&TrainingOutcome::trained)},
                  {"diverged", outcome(&TrainingOutcome::diverged)},
                  {"training_seconds", table_value(known_seconds(run, run.status.training_seconds))},
                  {"evaluation_seconds", table_value(known_seconds(run, run.status.evaluation_seconds))},
                  {"git_commit", run.status.git_commit},
                  {"device", run.status.device},
                  {"stated_training", fmt::format("{}", fmt::join(run.status.stated_training, " | "))},
                  {"updated", run.status.updated},
                  {"error", run.error()}});
  }
  return data;
}

}  // namespace

std::string missing_reason(const TableRun& run) {
  const RunState state = run.status.state;
  if (!run.damage.empty() || state == RunState::kFailed) {
    return fmt::format("{}: {}", run.state(), run.error().empty() ? "no reason stored" : run.error());
  }
  if (run.config.is_foreign() && run.missing_lengths == 0) return "predictions have no loss";
  if (run.missing_lengths == 0 && state == RunState::kFinished)
    return "its loss is no number at a test length";
  std::string reason =
      fmt::format("{}, step {} of {}", run.state(), run.status.step, run.config.training.steps);
  if (run.missing_lengths > 0 && (state == RunState::kFinished || state == RunState::kEvaluating)) {
    reason += fmt::format(", {} of {} test lengths not measured", run.missing_lengths,
                          run.config.evaluation.lengths().size());
  }
  return reason;
}

Table run_table(const ResultTable& table, const RunTableOptions& options) {
  return {.title = fmt::format("Runs of the experiment {}.", table.name),
          .printed = printed_runs(table, options),
          .data = run_data(table)};
}

namespace {

// True for settings that have a column in every table: those of the row, and those that tell the repetitions
// of a cell apart.
bool has_fixed_column(const std::string& path) {
  static const std::set<std::string> paths = {"seed",
                                              "data_seed",
                                              "learning_rate",
                                              "evaluation.samples",
                                              "evaluation.seed",
                                              "evaluation.eval_dropout"};
  return paths.contains(path);
}

// Gives the setting's value its type.
TableValue value_of(const FieldRecord& field) {
  if (field.number) {
    if (const auto whole = parse_integer(field.value)) return *whole;
    if (const auto real = parse_real(field.value)) return *real;
  }
  return field.value;
}

bool is_in_score(const TableRun& run, const EvaluationRow& row) {
  return std::ranges::any_of(run.evaluation, [&](const EvaluationRow& scored) {
    return scored.length == row.length && scored.samples == row.samples && scored.seed == row.seed &&
           scored.eval_dropout == row.eval_dropout;
  });
}

DataTable length_data(const ResultTable& table) {
  std::vector<RunConfig> configs;
  for (const TableRun& run : table.runs) configs.push_back(run.config);
  std::vector<std::string> varied = varied_paths(configs);
  std::erase_if(varied, has_fixed_column);
  DataTable data{.columns = {"run", "level", "task", "encoding"},
                 .notes = {{NoteKind::kReading,
                            "Accuracies are fractions, 0 to 1, losses are in nats per output symbol."}}};
  data.columns.insert(data.columns.end(), varied.begin(), varied.end());
  for (const char* column : {"seed", "data_seed", "learning_rate", "length", "samples", "evaluation.seed",
                             "evaluation.eval_dropout", "in_score", "chance", "accuracy", "loss"}) {
    data.columns.emplace_back(column);
  }
  append_provenance(data.notes, table);
  for (const TableRun& run : table.runs) {
    const auto settings = settings_by_path(run.config);
    const TableRow& row = table.row(run.task);
    for (const EvaluationRow& measured : run.measured) {
      std::vector<TableValue> values = {run.id, std::string(level_name(row.level)), run.task.text(),
                                        run.encoding.text()};
      for (const std::string& path : varied) {
        const auto setting = settings.find(path);
        values.push_back(setting == settings.end() ? TableValue() : value_of(setting->second));
      }
      const bool is_foreign = run.config.is_foreign();
      const std::vector<TableValue> numbers = {run.config.seed,
                                               is_foreign ? TableValue() : run.config.data_seed,
                                               is_foreign ? TableValue() : run.config.learning_rate,
                                               measured.length,
                                               measured.samples,
                                               measured.seed,
                                               yes_or_no(measured.eval_dropout),
                                               yes_or_no(is_in_score(run, measured)),
                                               table_value(row.chance_at({measured.length})),
                                               measured.accuracy,
                                               is_foreign ? TableValue() : measured.loss};
      values.insert(values.end(), numbers.begin(), numbers.end());
      data.rows.push_back(std::move(values));
    }
  }
  return data;
}

PrintedTable printed_lengths(const ResultTable& table) {
  PrintedTable printed{.group_title = "level",
                       .columns = {{.title = "task", .number = false},
                                   {.title = "encoding", .number = false},
                                   {.title = "seed"},
                                   {.title = "learning rate"},
                                   {.title = "length"},
                                   {.title = "samples"},
                                   {.title = "evaluation seed"},
                                   {.title = "in score", .number = false},
                                   {.title = "loss"},
                                   {.title = "accuracy"}},
                       .notes = {{NoteKind::kReading,
                                  "Accuracies in percent, loss in nats per output symbol; every test length "
                                  "that a finished run was evaluated at."}}};
  for (const TableRun& run : table.runs) {
    for (const EvaluationRow& measured : run.measured) {
      PrintedRow row{.group = std::string(level_name(table.row(run.task).level)), .cells = {}};
      row.cells = {{.text = run.task.text()},
                   {.text = run.encoding.text()},
                   {.text = fmt::format("{}", run.config.seed)},
                   {.text = run.config.is_foreign() ? kNoNumber : real_text(run.config.learning_rate)},
                   {.text = fmt::format("{}", measured.length)},
                   {.text = fmt::format("{}", measured.samples)},
                   {.text = fmt::format("{}", measured.seed)},
                   {.text = is_in_score(run, measured) ? "yes" : "no"},
                   {.text = run.config.is_foreign() ? kNoNumber : fmt::format("{:.4f}", measured.loss)},
                   {.text = Metric().format(measured.accuracy)}};
      printed.rows.push_back(std::move(row));
    }
  }
  append_provenance(printed.notes, table);
  return printed;
}

}  // namespace

Table length_table(const ResultTable& table) {
  return {.title = fmt::format("Accuracy by test length of the runs of the experiment {}.", table.name),
          .printed = printed_lengths(table),
          .data = length_data(table)};
}

}  // namespace che
