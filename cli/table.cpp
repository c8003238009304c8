#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "core/atomic_file.h"
#include "experiments/result_csv.h"
#include "experiments/result_markdown.h"
#include "experiments/result_table.h"

namespace che {
namespace {

struct TableOptions {
  std::string folder;
  std::string format = "md";
  std::string output;
};

int print_table(const TableOptions& options) {
  const ResultTable table = make_table(open_runs(options.folder));
  warn_of_damage(table);
  const std::string text = options.format == "md"    ? table_markdown(table)
                           : options.format == "csv" ? cells_csv(table)
                                                     : runs_csv(table);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file_atomically(options.output, text);
  }
  return 0;
}

}  // namespace

void add_table_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<TableOptions>();
  CLI::App* const command = app.add_subcommand("table", "Print the results of an experiment as a table");
  command->add_option("folder", options->folder, "results folder, as written by che run")->required();
  command
      ->add_option("--format", options->format,
                   "md: Markdown, percent; csv: a line a cell, unrounded; runs: CSV, a line a run")
      ->check(CLI::IsMember({"md", "csv", "runs"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "file to write instead of printing");
  command->callback([options, &action] { action = [options] { return print_table(*options); }; });
}

}  // namespace che
