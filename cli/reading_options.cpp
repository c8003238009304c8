#include "cli/reading_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "experiments/plan/shard.h"
#include "experiments/published/quoted_scores.h"
#include "plots/figures.h"

namespace che {

CLI::Validator one_of(const std::vector<std::string>& allowed) {
  const auto problem = [allowed](const std::string& word) -> std::string {
    if (std::ranges::count(allowed, word) > 0) return "";
    return fmt::format("got '{}'{}", word, known_names_hint(word, allowed, "allowed"));
  };
  return {problem, fmt::format("{{{}}}", fmt::join(allowed, ","))};
}

void check_output_file(std::string_view option, const std::string& file,
                       const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  if (file.empty()) return;
  const fs::path folder = fs::absolute(link_target(file)).parent_path();  // Links are followed.
  if (!fs::is_directory(folder)) {
    throw Error(fmt::format("{} {}: there is no folder {}; create it first", option, file, folder.string()));
  }
  if (fs::exists(folder / "config.yaml") && fs::canonical(folder).parent_path().filename() == "runs") {
    throw Error(fmt::format("{} {}: lies in the folder of a run; name another place", option, file));
  }
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    throw Error(fmt::format("{} {}: is a folder; name a file", option, file));
  }
  if (fs::path(file).filename() == kQuotedFile && fs::exists(file, ignored)) {
    throw Error(
        fmt::format("{} {}: would replace the scores that tables quote; name another file", option, file));
  }
  for (const std::string& input : inputs) {
    if (!fs::equivalent(file, input, ignored)) continue;
    throw Error(fmt::format("{} {}: would replace what the command reads; name another file", option, file));
  }
}

std::filesystem::path results_folder(const std::string& output, const std::string& name) {
  return output.empty() ? std::filesystem::path("results") / name : std::filesystem::path(output);
}

CLI::Option* add_workers_option(CLI::App& command, std::int64_t& workers, const std::string& others) {
  return command
      .add_option(
          "-w,--workers", workers,
          fmt::format("worker processes at a time (default: as many as cores and memory serve{})", others))
      ->check(CLI::Range(1, 1024));
}

std::vector<CLI::Option*> add_conditions(CLI::App& command, RunConditions& conditions) {
  std::vector<CLI::Option*> options;
  const auto add = [&](const char* name, std::vector<std::string>& texts, const char* help) {
    options.push_back(command.add_option(name, texts, help)->type_name("KEY=VALUE")->allow_extra_args(false));
  };
  add("--only", conditions.only,
      "choose matching runs only: task=parity_check, encoding=[rope,kerple], seed=0:4, or (where a "
      "config is read) a variant's label; given several times, all must match");
  add("--skip", conditions.skip,
      "leave out matching runs, as for --only; given several times, any may match");
  return options;
}

Sweep ReadConfig::sweep(const WarningSink& warn) const {
  const Shard part = shard.empty() ? Shard() : parse_shard(shard);
  Sweep sweep = read_sweep(file, overrides, conditions, warn);
  take_shard(sweep, part);
  return sweep;
}

void add_read_config(CLI::App& command, ReadConfig& config) {
  command.add_option("CONFIG", config.file, "YAML file, see configs/")->required();
  command.add_option("key=value", config.overrides,
                     "settings that replace the config's, such as training.steps=100 or axes.seed=[0,1]");
  add_conditions(command, config.conditions);
  command
      .add_option("--shard", config.shard,
                  "the K-th of N parts with about equal work, for N machines with a results folder each: 1/8")
      ->type_name("K/N");
}

void add_read_runs(CLI::App& command, ReadRuns& runs) {
  command.add_option("EXPERIMENT_DIR", runs.folder, "folder that `che run` wrote")->required();
  add_conditions(command, runs.conditions);
}

void add_read_experiments(CLI::App& command, ReadExperiments& experiments) {
  command
      .add_option("EXPERIMENT_DIR", experiments.folders,
                  "folders that `che run` or `che score` wrote; of several, all runs in one table")
      ->required();
  add_conditions(command, experiments.conditions);
  command
      .add_option("--score-lengths", experiments.score_lengths,
                  "test lengths whose mean is a score, of those that were measured: 95:500, 41:500:27 or "
                  "50,100,200; those of each run's config unless given")
      ->type_name("LENGTHS");
  command
      .add_option("--select", experiments.select,
                  "keep of each cell one learning rate, that with the best mean over the seeds: training, "
                  "by the accuracy at the end of training, or validation, by accuracies on samples of other "
                  "evaluation seeds (che evaluate --seed); of texts, by the losses of training or on the "
                  "validation part (log.validation_steps); scores are then means with standard deviations")
      ->check(one_of(selection_rule_names()));
}

ReadingRules ReadExperiments::rules() const {
  ReadingRules rules;
  if (!score_lengths.empty()) rules.score_lengths = LengthChoice(score_lengths);
  if (!metric.empty()) rules.metric = Metric::named(metric);
  if (!select.empty()) rules.select = selection_rule_named(select);
  return rules;
}

std::string ReadExperiments::narrowing() const {
  if (!conditions.only.empty()) return "--only";
  if (!conditions.skip.empty()) return "--skip";
  if (!score_lengths.empty()) return "--score-lengths";
  return select.empty() ? "" : "--select";
}

CLI::Option* add_aggregate(CLI::App& command, std::string& aggregate, std::string_view otherwise) {
  return command
      .add_option("--aggregate", aggregate,
                  fmt::format("what stands for a cell's runs: max, mean, median, or iqm, the interquartile "
                              "mean; {}",
                              otherwise))
      ->check(one_of(aggregate_names()));
}

void add_width_option(CLI::App& command, double& width_mm) {
  command
      .add_option("--width", width_mm,
                  "width of the page or column in mm, such as 140 or 85; text has 7 to 9 pt at any width")
      ->type_name("MM")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& value) -> std::string {
            const std::optional<double> width = parse_real(value);
            if (width && *width >= kMinWidth && *width <= kMaxWidth) return "";
            return fmt::format("got {}; allowed: {:g} to {:g}, in mm", value, kMinWidth, kMaxWidth);
          },
          fmt::format("in [{:g} - {:g}]", kMinWidth, kMaxWidth)));
}

TerminalStyle standard_output_style() {
  winsize window{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return {};
  return {.width = window.ws_col, .escapes = true};
}

void PrintedOutput::write(const std::string& text) const {
  check_output_file("--output", file);
  if (file.empty()) {
    fmt::print("{}", text);
  } else {
    write_output(file, text);
  }
}

void add_printed_output(CLI::App& command, PrintedOutput& output) {
  command
      .add_option(
          "--format", output.format,
          "terminal, md (Markdown), tex (LaTeX, booktabs): rounded, for people; csv, json: unrounded, for "
          "programs")
      ->check(one_of(table_formats()))
      ->capture_default_str();
  command.add_option("-o,--output", output.file, "file to write instead of printing");
}

void NotedOutput::add_to(CLI::App& command) {
  add_printed_output(command, output);
  command
      .add_option("--notes", notes,
                  "notes below the table: none, short (how to read it and which runs do not count), or all "
                  "(also how numbers are computed and where the runs come from)")
      ->check(one_of({"none", "short", "all"}))
      ->capture_default_str();
}

int NotedOutput::write(Table table) const {
  choose_notes(table, notes == "none"  ? NoteChoice::kNone
                      : notes == "all" ? NoteChoice::kAll
                                       : NoteChoice::kShort);
  output.write(table);
  return 0;
}

}  // namespace che
