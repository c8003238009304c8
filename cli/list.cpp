#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/field_list.h"
#include "core/registry.h"
#include "models/encodings/encoding.h"
#include "tasks/task.h"

namespace che {
namespace {

struct ListOptions {
  std::string kind;
  bool verbose = false;
};

// A line of the table, and what --verbose prints below it.
struct Row {
  std::vector<std::string> cells;
  std::vector<std::string> details;
};

void print_table(std::vector<Row> rows, bool verbose) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(row.cells.size(), 0);
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.cells.size(); ++i) fmt::print("{:<{}}  ", row.cells[i], widths[i]);
    fmt::print("{}\n", row.cells.back());
    if (!verbose) continue;
    for (const std::string& detail : row.details) fmt::print("    {}\n", detail);
  }
}

using VisitOptions = std::function<void(OptionValues&, FieldVisitor&)>;

// Every option with its default, allowed values and help.
void append_options(const VisitOptions& visit, std::vector<std::string>& details) {
  OptionValues defaults;
  for (const FieldRecord& option : list_fields([&](FieldVisitor& visitor) { visit(defaults, visitor); })) {
    const std::string allowed = option.allowed.empty() ? "" : fmt::format(" (allowed: {})", option.allowed);
    details.push_back(fmt::format("option {} = {}{}: {}", option.path, option.value, allowed, option.help));
  }
}

std::vector<Row> task_rows() {
  std::vector<Row> rows = {{{"TASK", "LEVEL", "INPUT", "OUTPUT", "OUTPUT LENGTH", "SUMMARY"}, {}}};
  const auto& registry = Registry<TaskEntry>::instance();
  for (const std::string& name : registry.names()) {
    const TaskEntry& entry = registry.get(name);
    const auto task = create_task(name);
    Row row{{name, std::string(level_name(entry.level)), std::string(task->input_symbols()),
             std::string(task->output_symbols()), entry.output_length, entry.summary},
            {fmt::format("accuracy by chance: {}", entry.chance)}};
    append_options(entry.visit, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> encoding_rows() {
  std::vector<Row> rows = {{{"ENCODING", "READS POSITIONS", "DAPE CAN WRAP IT", "SUMMARY"}, {}}};
  const auto& registry = Registry<EncodingEntry>::instance();
  for (const std::string& name : registry.names()) {
    const EncodingEntry& entry = registry.get(name);
    Row row{{name, entry.reads_positions ? "yes" : "no", entry.gives_bias ? "yes" : "no", entry.summary},
            {"formula: " + entry.formula, "source: " + entry.source}};
    append_options(entry.visit, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

int list(const ListOptions& options) {
  print_table(options.kind == "tasks" ? task_rows() : encoding_rows(), options.verbose);
  return 0;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* const command = app.add_subcommand("list", "Show the tasks or the encodings");
  command->add_option("kind", options->kind, "tasks (L is the length asked for) or encodings")
      ->required()
      ->check(CLI::IsMember({"tasks", "encodings"}));
  command->add_flag("--verbose", options->verbose, "also chance, or formula and source, and every option");
  command->callback([options, &action] { action = [options] { return list(*options); }; });
}

}  // namespace che
