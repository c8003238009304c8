#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/commands.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "experiments/result_table.h"
#include "tables/run_table.h"
#include "tables/score_table.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string folder;
  std::string output;
};

int report(const ReportOptions& options) {
  ResultTable table = read_table(options.folder);
  add_trivial_baselines(table);
  const fs::path folder = options.folder;
  const fs::path output = options.output.empty() ? folder / "report.html" : fs::path(options.output);
  const fs::path parent = output.has_parent_path() ? output.parent_path() : ".";
  if (!fs::is_directory(parent)) {
    throw Error(fmt::format("--output: '{}' is no folder; create it first", parent.string()));
  }
  const std::string way = fs::relative(folder, parent).generic_string();
  const std::string html = report_html(table, {.folder = way});
  for (const auto& [name, contents] :
       {std::pair{"table.csv", score_table(table)}, {"runs.csv", run_table(table)}}) {
    write_file_atomically(folder / name, format_table(contents, "csv"));
    fmt::print("{}\n", (folder / name).string());
  }
  write_file_atomically(output, html);
  fmt::print("{}\n", output.string());
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = app.add_subcommand("report",
                                               "Write the results of an experiment as one HTML page: "
                                               "provenance, sortable tables, figures, failed runs, "
                                               "configs; and table.csv and runs.csv, which it links to");
  command->add_option("folder", options->folder, "results folder, as written by che run")->required();
  command->add_option("--output", options->output, "file to write; report.html in the folder unless given");
  command->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace che
