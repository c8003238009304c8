#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/text.h"
#include "experiments/learn/model_factory.h"
#include "experiments/measure/attention_capture.h"
#include "experiments/store/run_folder.h"
#include "plots/figures.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct BiasOptions {
  std::string run;
  std::int64_t length = 0;
  std::string samples = "0";
  std::optional<std::int64_t> query;
  std::optional<double> memory_gib;
  std::string output;
  double width_mm = kDefaultWidth;
};

constexpr std::int64_t kMaxSamples = 1000;

std::vector<std::int64_t> samples_of(const std::string& text) {
  const auto range = parse_number_or_range(text);
  const auto samples = range ? range->values(kMaxSamples) : std::nullopt;
  if (!samples) {
    throw Error(fmt::format("--sample {}: allowed: a number from 0, or {}, at most {} samples", text,
                            kIntegerRangeForms, kMaxSamples));
  }
  return *samples;
}

void draw_sample(const BiasOptions& options, const RunFolder& run, const RestoredModel& restored,
                 std::int64_t sample) {
  const RunConfig& config = run.config();
  AttentionBias bias = capture_bias(*restored.model, config,
                                    {.length = options.length,
                                     .sample = sample,
                                     .query = options.query,
                                     .memory_gib = options.memory_gib.value_or(config.execution.memory_gib)});
  bias.step = restored.step;
  const fs::path folder = options.output.empty() ? run.path() : fs::path(options.output);
  create_writable_folder(folder);
  // Outside the run's folder, other runs' files may stand next to these.
  const std::string stem = fmt::format("{}bias-length{}-sample{}",
                                       options.output.empty() ? "" : run.id() + "-", options.length, sample);
  write_file_atomically(folder / (stem + ".csv"), attention_bias_csv(bias));
  fmt::print("{}\n", one_line((folder / (stem + ".csv")).string(), kWholeText));
  const std::vector<std::string> arguments = {
      "--width",
      fmt::format("{}", options.width_mm),
      "--query",
      fmt::format("{}", bias.chosen_query),
      "--trained",
      fmt::format("{}", config.has_text() ? config.training.last_length : 0),
      "--title",
      fmt::format("{} on {}, length {}, {} {}, step {}", bias.encoding, bias.subject, bias.length,
                  config.has_text() ? "window" : "sample", bias.sample, bias.step),
      "--",
      (folder / (stem + ".csv")).string()};
  for (const fs::path& file : run_che_plots(arguments)) {
    fmt::print("{}\n", one_line(file.string(), kWholeText));
  }
}

int show_bias(const BiasOptions& options) {
  const RunFolder run = open_run(options.run);
  check_gives_bias(run.config());
  const RestoredModel restored = restore_for_reading(run);
  for (const std::int64_t sample : samples_of(options.samples)) draw_sample(options, run, restored, sample);
  return 0;
}

}  // namespace

void fill_bias_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, show_bias);
  command.add_option("RUN_DIR", options->run, "folder EXPERIMENT_DIR/runs/<run id>")->required();
  command.add_option("--length", options->length, "length asked of the task, or tokens of a text's window")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->required();
  command
      .add_option("--sample", options->samples,
                  "which of the run's test samples or windows, from 0: one, or several as first:last")
      ->capture_default_str();
  command
      .add_option("--query", options->query,
                  "query of the lines; the first output token, or a text's last token, unless given")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  command.add_option(
      "-o,--output", options->output,
      "folder for CSV and figures, which are named after the run there; the run's own unless given");
  add_width_option(command, options->width_mm);
  command
      .add_option("--memory-gib", options->memory_gib,
                  "GiB that it may use; the run's execution.memory_gib unless given")
      ->check(CLI::Validator(
          [](const std::string& value) -> std::string {
            const std::optional<double> gib = parse_real(value);
            if (gib && *gib >= kMinMemoryGib && *gib <= kMaxMemoryGib) return "";
            return fmt::format("got '{}'; allowed: {}", value, allowed_reals(kMinMemoryGib, kMaxMemoryGib));
          },
          "GiB"));
}

}  // namespace che
