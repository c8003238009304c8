#include "report/report.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/results/read_results.h"
#include "tables/result_tables.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  ReadExperiments runs;
  std::string output;
  bool entries = false;
};

void print_path(const fs::path& path) { fmt::print("{}\n", one_line(path.string(), kWholeText)); }

// Keeps the folders among `paths`: `results/*` may name files, too.
std::vector<fs::path> result_folders(std::vector<fs::path> paths) {
  std::erase_if(paths, [](const fs::path& path) { return fs::exists(path) && !fs::is_directory(path); });
  return paths;
}

int report(const ReportOptions& options) {
  const RunChoice choice = options.runs.choice();
  const ReadingRules rules = options.runs.rules();
  const bool is_joint = options.runs.folders.size() > 1 || options.entries;
  const std::string narrowing = options.runs.narrowing();
  if (is_joint && options.output.empty()) {
    throw Error("several experiments need --output: the page belongs to no one folder");
  }
  if (!narrowing.empty() && options.output.empty()) {
    throw Error(narrowing + " needs --output: a page read another way does not replace the experiment's own");
  }
  check_output_file("--output", options.output);
  const std::vector<fs::path> folders =
      options.entries ? result_folders(options.runs.paths()) : options.runs.paths();
  ResultTable table =
      read_table(folders, choice, rules, options.entries ? FolderRole::kEntries : FolderRole::kExperiments);
  add_trivial_baselines(table);
  add_paper_perplexities(table);
  const fs::path folder = options.runs.folders.front();
  const fs::path output = options.output.empty() ? folder / "report.html" : fs::path(options.output);
  const fs::path parent = output.has_parent_path() ? output.parent_path() : ".";
  // A page that goes to a pipe or to standard output is not mixed with the names of files.
  std::error_code ignored;
  const bool is_default = options.output.empty();
  const bool is_stream = !is_default && fs::exists(output) &&
                         (!fs::is_regular_file(output) || fs::equivalent(output, "/dev/stdout", ignored));
  // A page that lies elsewhere or is read another way writes nothing into the results folder.
  const bool is_own = !is_joint && narrowing.empty() && fs::equivalent(parent, folder, ignored);
  const std::array<std::pair<std::string, Table>, 3> tables = {
      {{"table.csv", score_table(table, {.aggregate = default_aggregate(table)})},
       {"runs.csv", run_table(table)},
       {"lengths.csv", length_table(table)}}};
  for (const auto& [name, contents] : tables) {
    if (!is_stream && fs::weakly_canonical(output) == fs::weakly_canonical(folder / name)) {
      throw Error(
          fmt::format("--output: {} is a CSV file that a page writes; name another file", output.string()));
    }
  }
  ReportLinks links{.folders = {}};
  for (const fs::path& path : folders) {
    links.folders.push_back(fs::relative(path, parent).generic_string());
  }
  if (!is_stream) links.tables = is_own ? "./" : output.stem().string() + "-";
  for (const auto& [name, contents] : tables) {
    if (!links.tables) continue;
    const fs::path file = is_own ? folder / name : parent / (*links.tables + name);
    write_file_atomically(file, format_table(contents, "csv"));
    print_path(file);
  }
  // The folder may come from elsewhere: a link of the default name in it is replaced, not followed.
  (is_default ? write_file_atomically : write_output)(output, report_html(table, links));
  if (!is_stream) print_path(output);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("report", "Write the results of an experiment as one HTML page");
  const auto options = set_action(*command, action, report);
  command->footer(
      "The page has sortable tables, figures, failed runs, configs and provenance. It links to table.csv, "
      "runs.csv and lengths.csv, which are written too. With --only or several experiments it needs "
      "--output. Then, and where --output lies in another folder, the three files stand next to the page and "
      "begin with its name. A page that goes to a pipe or to standard output has none.");
  add_read_experiments(*command, options->runs);
  command->add_flag("--entries", options->entries,
                    "the folders are entries of several authors, such as results/*: a column that several of "
                    "them have names the entry, and what a quoted.csv quotes is shown and marked as quoted");
  command->add_option("-o,--output", options->output,
                      "file to write; report.html in the folder unless given");
}

}  // namespace che
