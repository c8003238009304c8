#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/config/field_list.h"
#include "core/error.h"
#include "core/registry.h"
#include "experiments/published/paper_table.h"
#include "models/settings/encoding_entry.h"
#include "models/settings/model_entry.h"
#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"
#include "tasks/suite.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

struct ListOptions {
  std::string kind;
  std::string name;  // Of a task that is shown alone.
  bool verbose = false;
};

constexpr std::string_view kOneTask = "task";

// A line of a table of registered entries, and what --verbose prints below it.
struct ListRow {
  std::vector<std::string> cells;
  std::vector<std::string> details;
};

struct Listing {
  std::string kind;
  std::string help;  // The meaning of its columns.
  std::function<std::vector<ListRow>()> rows;
};

// Appends a line for every option of an entry: its default, the allowed values and the help.
void append_options(const AnyOptions& defaults, std::vector<std::string>& details) {
  for (const FieldRecord& option : describe_fields(fields_of(defaults))) {
    const std::string allowed = option.allowed.empty() ? "" : fmt::format(" (allowed: {})", option.allowed);
    details.push_back(fmt::format("option {} = {}{}: {}", option.path, option.value, allowed, option.help));
  }
}

std::vector<ListRow> task_rows() {
  std::vector<ListRow> rows = {
      {{"TASK", "LEVEL", "INPUT", "OUTPUT", "OUTPUT LENGTH", "INVARIANT", "SUMMARY"}, {}}};
  const auto& registry = Registry<TaskEntry>::instance();
  for (const std::string& name : registry.names()) {
    const TaskEntry& entry = registry.get(name);
    const auto task = create_task(name);
    ListRow row{{name, std::string(level_name(task->level())), std::string(task->input_symbols()),
                 std::string(task->output_symbols()), entry.output_length,
                 entry.permutation_invariant ? "yes" : "no", entry.summary},
                {fmt::format("accuracy by chance: {}", task->chance())}};
    append_options(entry.options, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The columns of Table 2 of the DAPE paper whose values stand next to forms of this encoding.
std::string columns_of(const std::string& encoding) {
  std::vector<std::string> labels;
  for (const PaperColumn& column : paper_columns()) {
    if (column.form.name == encoding) labels.push_back(column.form.text());
  }
  return labels.empty() ? "-" : fmt::format("{}", fmt::join(labels, ", "));
}

std::vector<ListRow> encoding_rows() {
  std::vector<ListRow> rows = {
      {{"ENCODING", "READS POSITIONS", "DAPE CAN WRAP IT", "IN TABLE 2 AS", "SUMMARY"}, {}}};
  const auto& registry = Registry<EncodingEntry>::instance();
  for (const std::string& name : registry.names()) {
    const EncodingEntry& entry = registry.get(name);
    ListRow row{{name, entry.reads_positions ? "yes" : "no", entry.takes_dape() ? "yes" : "no",
                 columns_of(name), entry.summary},
                {"formula: " + entry.formula, "source: " + entry.source}};
    if (entry.right_side_is_ours(entry.options)) {
      row.details.emplace_back("in an encoder: the part for keys on the right is ours");
    }
    append_options(entry.options, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ListRow> model_rows() {
  std::vector<ListRow> rows = {{{"MODEL", "TAKES AN ENCODING", "SUMMARY"}, {}}};
  const auto& registry = Registry<ModelEntry>::instance();
  for (const std::string& name : registry.names()) {
    const ModelEntry& entry = registry.get(name);
    ListRow row{{name, entry.takes_encoding ? "yes" : "no", entry.summary}, {"source: " + entry.source}};
    append_options(entry.options, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ListRow> suite_rows() {
  std::vector<ListRow> rows = {{{"SUITE", "TASKS", "TRAINED", "TESTED", "STEP", "SAMPLES", "SUMMARY"}, {}}};
  for (const Suite& suite : suites()) {
    rows.push_back({{suite.name, std::to_string(suite.tasks.size()),
                     fmt::format("{}..{}", suite.first_training_length, suite.last_training_length),
                     fmt::format("{}..{}", suite.first_length, suite.last_length),
                     std::to_string(suite.length_step), std::to_string(suite.samples), suite.summary},
                    {fmt::format("tasks: {}", fmt::join(suite.tasks, ", "))}});
  }
  return rows;
}

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all = {
      {"tasks",
       "L is the length asked for; INVARIANT: marked as permutation-invariant in Table 2 of the DAPE paper",
       task_rows},
      {"encodings", "IN TABLE 2 AS: the columns whose values stand next to it", encoding_rows},
      {"models", "the values of model.kind; foreign stands for predictions that che scores", model_rows},
      {"suites", "frozen choices of tasks and test samples, for models outside che; SAMPLES: per length",
       suite_rows},
  };
  return all;
}

void print_line(std::string_view key, std::string_view value) {
  if (!value.empty()) fmt::print("{:<14}  {}\n", key, value);
}

void print_symbols(const Task& task) {
  print_line("level", level_name(task.level()));
  print_line("input", shown_symbols(task.input_symbols()));
  print_line("output", shown_symbols(task.output_symbols()));
}

// Shows lengths of the training and the test samples of the benchmark, and beyond.
void print_lengths(const Task& task) {
  for (const std::int64_t length : {1, 2, 5, 10, 40, 100, 500, 1000}) {
    const std::string problem = task.length_problem(length);
    const std::string chance =
        fmt::format("{} symbols, chance {:.4f}", task.input_length(length), task.chance_at(length));
    print_line(fmt::format("length {}", length), problem.empty() ? chance : problem);
  }
}

void print_declared(TaskDefinition definition) {
  print_line("task", fmt::format("{} (version {}, definition {})", definition.name, definition.version,
                                 definition_digest(definition.canonical())));
  print_line("description", definition.description);
  print_line("source", definition.source);
  print_line("answer", word_of(kAnswers, definition.answer));
  print_line("sample", word_of(kSamplings, definition.sampling));
  print_line("group", definition.group);
  print_line("states",
             fmt::format(
                 "{}{}", definition.automaton.numbers.size(),
                 definition.automaton.sink ? ", and a rejecting sink that missing transitions lead to" : ""));
  const std::unique_ptr<Task> task = make_task(std::move(definition));
  print_symbols(*task);
  print_lengths(*task);
}

// Prints everything about one task: a registered one, or one that a file declares.
void print_task(const std::string& name_or_file) {
  if (is_task_file(name_or_file)) {
    print_declared(read_task_file(name_or_file));
    return;
  }
  const TaskEntry& entry = registered_task(name_or_file);
  print_line("task", fmt::format("{} (version {})", entry.name, entry.version));
  print_line("description", entry.summary);
  const std::unique_ptr<Task> task = create_task(name_or_file);
  print_symbols(*task);
  print_line("output length", fmt::format("{}, for input of length L", entry.output_length));
  print_line("chance", fmt::format("{}", task->chance()));
  print_line("source", entry.source);
  for (const std::string& pitfall : entry.pitfalls) print_line("pitfall", pitfall);
  for (std::size_t i = 0; i < entry.changes.size(); ++i) {
    print_line(fmt::format("version {}", i + 1), entry.changes[i]);
  }
  fmt::print("\n{}\n", entry.bibtex);
}

void print_table(const std::vector<ListRow>& rows, bool verbose) {
  std::vector<std::size_t> widths;
  for (const ListRow& row : rows) {
    widths.resize(row.cells.size(), 0);
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  for (const ListRow& row : rows) {
    for (std::size_t i = 0; i + 1 < row.cells.size(); ++i) fmt::print("{:<{}}  ", row.cells[i], widths[i]);
    fmt::print("{}\n", row.cells.back());
    if (!verbose) continue;
    for (const std::string& detail : row.details) fmt::print("    {}\n", detail);
  }
}

int show(const ListOptions& options) {
  if ((options.kind == kOneTask) == options.name.empty()) {
    throw Error(options.name.empty() ? "list task: name the task, or its file"
                                     : fmt::format("list {}: takes no name; 'list task {}' shows one task",
                                                   options.kind, options.name));
  }
  if (options.kind == kOneTask) {
    print_task(options.name);
  } else {
    print_table(std::ranges::find(listings(), options.kind, &Listing::kind)->rows(), options.verbose);
  }
  return 0;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  std::vector<std::string> kinds;
  std::string help;
  for (const Listing& listing : listings()) {
    kinds.push_back(listing.kind);
    help += fmt::format("{}{} ({})", help.empty() ? "" : " or ", listing.kind, listing.help);
  }
  CLI::App* const command =
      app.add_subcommand("list", fmt::format("Show the {}, or one task", fmt::join(kinds, " or the ")));
  const auto options = set_action(*command, action, show);
  kinds.emplace_back(kOneTask);
  help += fmt::format(" or {} NAME (one task)", kOneTask);
  command->add_option("kind", options->kind, help)->required()->check(one_of(kinds));
  command->add_option("name", options->name, "with 'task': its name, or the .yaml file that declares it");
  command->add_flag("--verbose", options->verbose, "also chance, or formula and source, and every option");
}

}  // namespace che
