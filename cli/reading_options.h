#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/sweep.h"
#include "experiments/results/read_results.h"
#include "experiments/results/reading_rules.h"
#include "experiments/results/result_table.h"
#include "experiments/store/experiment_folder.h"
#include "tables/formats/table.h"

namespace che {

// Allows one of these words, and suggests one for a misspelt word.
CLI::Validator one_of(const std::vector<std::string>& allowed);

// Throws Error (usage) if `file`, which `option` ("--json") names, is a folder or would lie in one that does
// not exist or in a run's. Throws it too if it is one of the command's `inputs`. This is checked before the
// work whose result it takes. An empty name is no file.
void check_output_file(std::string_view option, const std::string& file,
                       const std::vector<std::string>& inputs = {});

// Returns the folder that -o names, or results/`name` unless it is given.
std::filesystem::path results_folder(const std::string& output, const std::string& name);

// Adds -w,--workers. `others` says what else than cores and memory decides on the default.
CLI::Option* add_workers_option(CLI::App& command, std::int64_t& workers, const std::string& others = "");

// Adds --only and --skip, which choose among the runs of a config or of an experiment, and returns them.
std::vector<CLI::Option*> add_conditions(CLI::App& command, RunConditions& conditions);

// The runs of a config that a command works on.
struct ReadConfig {
  std::string file;
  std::vector<std::string> overrides;
  RunConditions conditions;
  std::string shard;

  Sweep sweep(const WarningSink& warn = print_warning) const;
};

// Adds CONFIG, key=value, --only, --skip and --shard.
void add_read_config(CLI::App& command, ReadConfig& config);

// The runs that a command reads.
struct ReadRuns {
  std::string folder;  // Of the experiment.
  RunConditions conditions;

  RunChoice choice() const { return RunChoice(conditions); }
};

// Adds EXPERIMENT_DIR, --only and --skip.
void add_read_runs(CLI::App& command, ReadRuns& runs);

// The runs of one experiment or several that a command shows side by side.
struct ReadExperiments {
  std::vector<std::string> folders;
  RunConditions conditions;
  std::string score_lengths;  // Empty: those of each run's config.
  std::string select;         // Empty: no selection.
  std::string metric;         // Empty: that of the task or the text.

  RunChoice choice() const { return RunChoice(conditions); }
  ReadingRules rules() const;
  // The option that makes what is read less or other than the folder's own results; empty where none is
  // given.
  std::string narrowing() const;
  std::vector<std::filesystem::path> paths() const { return {folders.begin(), folders.end()}; }
  ResultTable table() const { return read_table(paths(), choice(), rules()); }
};

// Adds EXPERIMENT_DIR..., --only, --skip, --score-lengths and --select.
void add_read_experiments(CLI::App& command, ReadExperiments& experiments);

// Adds --aggregate. `otherwise` says what counts unless it is given.
CLI::Option* add_aggregate(CLI::App& command, std::string& aggregate, std::string_view otherwise);

// Adds --width, of figures, in mm.
void add_width_option(CLI::App& command, double& width_mm);

// The style of standard output: a window has a width and takes escape sequences, a file has neither.
TerminalStyle standard_output_style();

// The output of a command: a table in one of table_formats(), on standard output or in a file.
struct PrintedOutput {
  std::string format = "terminal";
  std::string file;  // Empty: standard output.

  TerminalStyle style() const { return file.empty() ? standard_output_style() : TerminalStyle(); }
  // Writes text that is in that format.
  void write(const std::string& text) const;
  void write(const Table& table) const { write(format_table(table, format, style())); }
};

// Adds --format and -o,--output.
void add_printed_output(CLI::App& command, PrintedOutput& output);

// The output of a command whose table has notes.
struct NotedOutput {
  PrintedOutput output;
  std::string notes = "short";

  // Adds the options of the output, and --notes.
  void add_to(CLI::App& command);
  // Returns the exit code.
  int write(Table table) const;
};

}  // namespace che
