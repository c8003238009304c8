#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/commands.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/analysis/result_table.h"
#include "tables/run_table.h"
#include "tables/score_table.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string folder;
  std::string output;
};

void print_path(const fs::path& path) { fmt::print("{}\n", one_line(path.string(), kWholeText)); }

int report(const ReportOptions& options) {
  ResultTable table = read_table(options.folder);
  add_trivial_baselines(table);
  const fs::path folder = options.folder;
  const fs::path output = options.output.empty() ? folder / "report.html" : fs::path(options.output);
  const fs::path parent = output.has_parent_path() ? output.parent_path() : ".";
  if (!fs::is_directory(parent)) {
    throw Error(fmt::format("--output: '{}' is no folder; create it first", parent.string()));
  }
  // A page that goes to a pipe or to standard output is not mixed with the names of files.
  std::error_code ignored;
  const bool is_stream =
      fs::exists(output) && (!fs::is_regular_file(output) || fs::equivalent(output, "/dev/stdout", ignored));
  for (const auto& [name, contents] :
       {std::pair{"table.csv", score_table(table)}, {"runs.csv", run_table(table)}}) {
    write_file_atomically(folder / name, format_table(contents, "csv"));
    if (!is_stream) print_path(folder / name);
  }
  write_output(output, report_html(table, {.folder = fs::relative(folder, parent).generic_string()}));
  if (!is_stream) print_path(output);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* const command =
      app.add_subcommand("report", "Write the results of an experiment as one HTML page");
  command->footer(
      "The page has provenance, sortable tables, figures, failed runs and configs. It links to table.csv and "
      "runs.csv, "
      "which are written too.");
  command->add_option("EXPERIMENT_DIR", options->folder, "folder that `che run` wrote")->required();
  command->add_option("--output", options->output, "file to write; report.html in the folder unless given");
  command->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace che
