#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/text.h"
#include "experiments/exchange/sample_file.h"
#include "experiments/plan/evaluation_config.h"
#include "experiments/store/run_rows.h"
#include "tasks/declared/task_definition.h"
#include "tasks/suite.h"
#include "tasks/task.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string suite;
  std::string folder;
  std::vector<std::string> tasks;
  std::string lengths;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> seed;
  std::string format = "jsonl";
};

constexpr std::int64_t kMaxExportedLengths = 100'000;
// This bounds the samples of each length.
constexpr std::int64_t kMaxExportedSamples = std::int64_t{1} << 32;

// Describes the suite's samples with what the command line changes of them.
SampleHeader header_of(const Suite& suite, const ExportOptions& options) {
  SampleHeader header{.suite = suite.name,
                      .lengths = suite.lengths(),
                      .samples = options.samples.value_or(suite.samples),
                      .seed = options.seed.value_or(suite.evaluation_seed)};
  if (!options.lengths.empty()) {
    const auto range = parse_number_or_range(options.lengths);
    const auto lengths = range ? range->values(kMaxExportedLengths) : std::nullopt;
    if (!lengths) {
      throw Error(fmt::format("--lengths {}: allowed: a length, or {}, such as 41:500:10; at most {} lengths",
                              options.lengths, kIntegerRangeForms, kMaxExportedLengths));
    }
    header.lengths = *lengths;
  }
  if (header.samples < kEvaluationBatch || header.samples > kMaxExportedSamples ||
      header.samples % kEvaluationBatch != 0) {
    throw Error(fmt::format("--samples {}: allowed: multiples of {} up to {}", header.samples,
                            kEvaluationBatch, kMaxExportedSamples));
  }
  if (header.lengths != suite.lengths() || header.samples != suite.samples ||
      header.seed != suite.evaluation_seed) {
    header.suite.clear();
  }
  return header;
}

// Returns the tasks of a suite, or the one that is named or that a file declares, at the lengths of the
// default suite.
std::vector<SampleHeader> headers_of(const ExportOptions& options) {
  std::vector<SampleHeader> headers;
  if (is_task_file(options.suite)) {
    if (!options.tasks.empty()) throw Error("--task: chooses from a suite; the file has one task");
    const TaskDefinition definition = read_task_file(options.suite);
    SampleHeader header = header_of(Suite{}, options);
    header.task = definition.name;
    header.definition = definition.canonical();
    return {header};
  }
  const std::vector<std::string> tasks = Registry<TaskEntry>::instance().names();
  if (std::ranges::count(tasks, options.suite) > 0) {
    if (!options.tasks.empty()) throw Error("--task: chooses from a suite, and this is a task");
    SampleHeader header = header_of(Suite{}, options);
    header.task = options.suite;
    return {header};
  }
  const Suite& suite = find_suite(options.suite);
  SampleHeader header = header_of(suite, options);
  for (const std::string& task : options.tasks) {
    if (std::find(suite.tasks.begin(), suite.tasks.end(), task) == suite.tasks.end()) {
      throw Error(fmt::format("--task {}: suite {} has no such task{}", task, suite.name,
                              known_names_hint(task, suite.tasks)));
    }
  }
  for (const std::string& task : options.tasks.empty() ? suite.tasks : options.tasks) {
    header.task = task;
    headers.push_back(header);
  }
  return headers;
}

void make_folder(const fs::path& folder) {
  const std::error_code failed = create_folder(folder);
  if (!failed) return;
  throw Error(fmt::format("cannot create '{}': {}", folder.string(), failed.message()),
              error_kind_of(failed.value()));
}

void export_file(const SampleHeader& header, const ExportOptions& options, const fs::path& target) {
  FileReplacement file(target);
  const auto write = [&](std::string_view text) { file.write(text); };
  if (options.format == "npz") {
    write_npz_samples(header, write);
  } else {
    write_samples(header, write);
  }
  file.finish();
}

// Writes FLaRe's files of a test set, with the header next to them.
void export_flare(const SampleHeader& header, const fs::path& target) {
  make_folder(target);
  FileReplacement strings(target / "main.tok");
  FileReplacement labels(target / "labels.txt");
  write_flare_samples(
      header, [&](std::string_view text) { strings.write(text); },
      [&](std::string_view text) { labels.write(text); });
  // A process that is killed in between leaves no older labels beside the new strings.
  std::error_code error;  // A file that cannot be removed is refused below, where it is replaced.
  for (const char* older : {"labels.txt", "header.json"}) fs::remove(target / older, error);
  strings.finish();
  labels.finish();
  write_file_atomically(target / "header.json", header_line(header) + "\n");
}

int export_samples(const ExportOptions& options) {
  const std::vector<SampleHeader> headers = headers_of(options);
  const bool is_flare = options.format == "flare";
  if (is_flare) std::ranges::for_each(headers, check_flare_samples);
  const fs::path folder = options.folder;
  make_folder(folder);
  for (const SampleHeader& header : headers) {
    const fs::path target = is_flare ? folder / header.task / "datasets" / "test"
                                     : folder / fmt::format("{}.{}", header.task, options.format);
    const bool replaces = is_present(is_flare ? target / "main.tok" : target);
    is_flare ? export_flare(header, target) : export_file(header, options, target);
    fmt::print("{}: {}, {} each{}\n", target.string(), counted(header.lengths.size(), "length"),
               counted(static_cast<std::size_t>(header.samples), "sample"),
               replaces ? ", in place of what was there" : "");
  }
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("export", "Write the test samples of a suite, for models outside che");
  const auto options = set_action(*command, action, export_samples);
  command
      ->add_option("SUITE", options->suite,
                   "'che list suites' shows them; or a task or its .yaml file, at lengths 41 to 500")
      ->required();
  command
      ->add_option("-o,--output", options->folder,
                   "folder; one file TASK.jsonl or TASK.npz per task, in place of one that is there")
      ->required();
  command->add_option("--task", options->tasks, "NAME,NAME...: only these tasks of the suite")
      ->delimiter(',');
  command->add_option("--lengths", options->lengths,
                      "other lengths, first:last or first:last:step, such as 41:80:3, or one length");
  command->add_option("--samples", options->samples, "other number of samples per length, a multiple of 64");
  command
      ->add_option("--format", options->format,
                   "jsonl: JSON lines, which `che score` takes predictions for; npz: arrays for numpy.load; "
                   "flare: TASK/datasets/test/main.tok and labels.txt, of tasks that answer 0 or 1")
      ->check(one_of({"jsonl", "npz", "flare"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "other seed of the test samples")
      ->check(CLI::Range(std::int64_t{0}, kMaxSeed));
}

}  // namespace che
