#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/analysis/result_table.h"
#include "tables/length_table.h"
#include "tables/run_table.h"
#include "tables/score_table.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  ReadRuns runs;
  std::string output;
};

void print_path(const fs::path& path) { fmt::print("{}\n", one_line(path.string(), kWholeText)); }

int report(const ReportOptions& options) {
  const RunChoice choice = options.runs.choice();
  const bool is_part = !choice.conditions().empty();
  if (is_part && options.output.empty()) {
    throw Error("--only needs --output: a page on some of the runs does not replace the experiment's own");
  }
  ResultTable table = read_table(options.runs.folder, choice);
  add_trivial_baselines(table);
  const fs::path folder = options.runs.folder;
  const fs::path output = options.output.empty() ? folder / "report.html" : fs::path(options.output);
  const fs::path parent = output.has_parent_path() ? output.parent_path() : ".";
  if (!fs::is_directory(parent)) {
    throw Error(fmt::format("--output: '{}' is no folder; create it first", parent.string()));
  }
  // A page that goes to a pipe or to standard output is not mixed with the names of files.
  std::error_code ignored;
  const bool is_stream =
      fs::exists(output) && (!fs::is_regular_file(output) || fs::equivalent(output, "/dev/stdout", ignored));
  ReportLinks links{.folder = fs::relative(folder, parent).generic_string(), .tables = ""};
  // A page on some of the runs has tables of its own, next to it and named after it.
  if (is_part) links.tables = output.stem().string() + "-";
  for (const auto& [name, contents] : {std::pair{"table.csv", score_table(table)},
                                       {"runs.csv", run_table(table)},
                                       {"lengths.csv", length_table(table)}}) {
    const fs::path file = is_part ? parent / (links.tables + name) : folder / name;
    write_file_atomically(file, format_table(contents, "csv"));
    if (!is_stream) print_path(file);
  }
  write_output(output, report_html(table, links));
  if (!is_stream) print_path(output);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* const command =
      app.add_subcommand("report", "Write the results of an experiment as one HTML page");
  command->footer(
      "The page has provenance, sortable tables, figures, failed runs and configs. It links to table.csv, "
      "runs.csv and lengths.csv, which are written too. With --only it needs --output, and the three files "
      "stand next to the page and begin with its name.");
  add_read_runs(*command, options->runs);
  add_output_option(*command, options->output, "file to write; report.html in the folder unless given");
  command->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace che
