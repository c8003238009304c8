#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/text.h"
#include "core/warning.h"
#include "experiments/store/run_folder.h"
#include "experiments/training/attention_capture.h"
#include "experiments/training/restored_model.h"
#include "plots/attention_bias.h"
#include "plots/gnuplot/figure_files.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// The limits of execution.memory_gib.
constexpr double kMinMemoryGib = 0.01;
constexpr double kMaxMemoryGib = 1e6;

struct BiasOptions {
  std::string run;
  std::int64_t length = 0;
  std::int64_t sample = 0;
  std::optional<std::int64_t> query;
  std::optional<double> memory_gib;
  std::string output;
};

RunFolder open_run(const std::string& folder) {
  if (!fs::exists(fs::path(folder) / "config.yaml")) {
    throw Error(fmt::format("no run in '{}'; name a folder results/<experiment>/runs/<run id>", folder));
  }
  return RunFolder::open(folder);
}

int show_bias(const BiasOptions& options) {
  const RunFolder run = open_run(options.run);
  const RunConfig& config = run.config();
  check_gives_bias(config);
  const RestoredModel restored = restore_model(run, DamagedCheckpoints::kLeave);
  for (const std::string& warning : restored.warnings) print_warning(warning);
  if (restored.step < config.training.steps) {
    fmt::print(stderr, "che: note: the run stands at step {} of {}\n", restored.step, config.training.steps);
  }
  AttentionBias bias = capture_bias(*restored.model, config, options.length, options.sample,
                                    options.memory_gib.value_or(config.execution.memory_gib));
  bias.step = restored.step;
  const std::int64_t query = options.query.value_or(bias.first_output);
  if (query >= bias.tokens) {
    throw Error(fmt::format("--query {}: the sample has {} tokens; allowed: 0 .. {}", query, bias.tokens,
                            bias.tokens - 1));
  }

  const fs::path folder = options.output.empty() ? run.path() : fs::path(options.output);
  create_writable_folder(folder);
  // Outside the run's folder, other runs' files may stand next to these.
  const std::string stem =
      fmt::format("{}bias-length{}-sample{}", options.output.empty() ? "" : run.id() + "-", options.length,
                  options.sample);
  const std::string query_stem = fmt::format("{}-query{}", stem, query);
  const std::string map_stem = stem + "-map";
  write_file_atomically(folder / (stem + ".csv"), attention_bias_csv(bias));
  fmt::print("{}\n", one_line((folder / (stem + ".csv")).string(), kWholeText));
  const auto print_files = [](const std::vector<fs::path>& files) {
    for (const fs::path& file : files) fmt::print("{}\n", one_line(file.string(), kWholeText));
  };
  print_files(draw_figure(folder, {query_stem, "Bias of one query"},
                          [&](const FigureFormat& format, const fs::path& file) {
                            return attention_bias_query_script(bias, query, format, file);
                          }));
  print_files(draw_figure(folder, {map_stem, "Adapted bias of all queries"},
                          [&](const FigureFormat& format, const fs::path& file) {
                            return attention_bias_map_script(bias, format, file);
                          }));
  return 0;
}

}  // namespace

void add_bias_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BiasOptions>();
  CLI::App* const command = app.add_subcommand(
      "bias", "Draw what a trained run's encoding adds to its attention logits, for one test sample");
  command->add_option("RUN_DIR", options->run, "folder EXPERIMENT_DIR/runs/<run id>")->required();
  command->add_option("--length", options->length, "length asked of the task")->required();
  command->add_option("--sample", options->sample, "which of the run's test samples, from 0")
      ->capture_default_str();
  command->add_option("--query", options->query, "query of the lines; the first output token unless given")
      ->check(CLI::NonNegativeNumber);
  command->add_option(
      "-o,--output", options->output,
      "folder for CSV and figures, which are named after the run there; the run's own unless given");
  command
      ->add_option("--memory-gib", options->memory_gib,
                   "GiB that it may use; the run's execution.memory_gib unless given")
      ->check(CLI::Validator(
          [](const std::string& value) -> std::string {
            const std::optional<double> gib = parse_real(value);
            if (gib && *gib >= kMinMemoryGib && *gib <= kMaxMemoryGib) return "";
            return fmt::format("got '{}'; allowed: {}", value, allowed_reals(kMinMemoryGib, kMaxMemoryGib));
          },
          "GiB"));
  command->callback([options, &action] { action = [options] { return show_bias(*options); }; });
}

}  // namespace che
