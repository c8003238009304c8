#include "tables/length_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/number_text.h"
#include "experiments/plan/run_config.h"
#include "tables/result_notes.h"

namespace che {
namespace {

// Columns of their own: those of the row, and what distinguishes the repetitions of a cell.
bool has_own_column(const std::string& path) {
  static const std::set<std::string> paths = {"seed",
                                              "data_seed",
                                              "learning_rate",
                                              "evaluation.samples",
                                              "evaluation.seed",
                                              "evaluation.eval_dropout"};
  return paths.contains(path);
}

// A setting of a run as a value of its type.
TableValue value_of(const FieldRecord& field) {
  if (field.number) {
    if (const auto whole = parse_integer(field.value)) return *whole;
    if (const auto real = parse_real(field.value)) return *real;
  }
  return field.value;
}

// Of each run its settings by key path, without those of execution.
using Settings = std::map<std::string, TableValue>;

Settings settings_of(RunConfig config) {
  config.evaluation = with_exact_lengths(config.evaluation);
  Settings settings;
  for (const FieldRecord& field : list_fields(config)) {
    if (field.role != Role::kExecution && !has_own_column(field.path)) {
      settings.emplace(field.path, value_of(field));
    }
  }
  return settings;
}

// The key paths at which the runs differ; a setting that some runs do not have is one of them.
std::vector<std::string> varied_paths(const std::vector<Settings>& runs) {
  std::map<std::string, std::set<TableValue>> values;
  std::map<std::string, std::size_t> holders;
  for (const Settings& settings : runs) {
    for (const auto& [path, value] : settings) {
      values[path].insert(value);
      ++holders[path];
    }
  }
  std::vector<std::string> paths;
  for (const auto& [path, distinct] : values) {
    if (distinct.size() > 1 || holders.at(path) < runs.size()) paths.push_back(path);
  }
  return paths;
}

TableValue yes_or_no(bool value) { return std::string(value ? "yes" : "no"); }

bool is_in_score(const TableRun& run, const EvaluationRow& row) {
  return std::ranges::any_of(run.evaluation, [&](const EvaluationRow& scored) {
    return scored.length == row.length && scored.samples == row.samples && scored.seed == row.seed &&
           scored.eval_dropout == row.eval_dropout;
  });
}

DataTable data(const ResultTable& table) {
  std::vector<Settings> settings;
  for (const TableRun& run : table.runs) settings.push_back(settings_of(run.config));
  const std::vector<std::string> varied = varied_paths(settings);
  DataTable data{.columns = {"run", "level", "task", "encoding"},
                 .rows = {},
                 .notes = {{NoteKind::kReading,
                            "Accuracies are fractions, 0 to 1, losses are in nats per output symbol."}}};
  data.columns.insert(data.columns.end(), varied.begin(), varied.end());
  for (const char* column : {"seed", "data_seed", "learning_rate", "length", "samples", "evaluation.seed",
                             "evaluation.eval_dropout", "in_score", "chance", "accuracy", "loss"}) {
    data.columns.emplace_back(column);
  }
  append_provenance(data.notes, table);
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const TableRun& run = table.runs[i];
    const TableRow& row = table.row(run.task);
    for (const EvaluationRow& measured : run.measured) {
      std::vector<TableValue> values = {run.id, std::string(level_name(row.level)), run.task.text(),
                                        run.encoding.text()};
      for (const std::string& path : varied) {
        const auto found = settings[i].find(path);
        values.push_back(found == settings[i].end() ? TableValue() : found->second);
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
                                               row.chance,
                                               measured.accuracy,
                                               is_foreign ? TableValue() : measured.loss};
      values.insert(values.end(), numbers.begin(), numbers.end());
      data.rows.push_back(std::move(values));
    }
  }
  return data;
}

PrintedTable print(const ResultTable& table) {
  PrintedTable printed{.group_title = "level",
                       .columns = {{.title = "task", .number = false},
                                   {.title = "encoding", .number = false},
                                   {.title = "seed"},
                                   {.title = "learning rate"},
                                   {.title = "length"},
                                   {.title = "samples"},
                                   {.title = "in score", .number = false},
                                   {.title = "loss"},
                                   {.title = "accuracy"}},
                       .rows = {},
                       .footnotes = {},
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
                   {.text = is_in_score(run, measured) ? "yes" : "no"},
                   {.text = run.config.is_foreign() ? kNoNumber : fmt::format("{:.4f}", measured.loss)},
                   {.text = percent(measured.accuracy)}};
      printed.rows.push_back(std::move(row));
    }
  }
  append_provenance(printed.notes, table);
  return printed;
}

}  // namespace

Table length_table(const ResultTable& table) {
  return {.title = fmt::format("Accuracy by test length of the runs of the experiment {}.", table.name),
          .printed = print(table),
          .data = data(table)};
}

}  // namespace che
