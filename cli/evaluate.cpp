#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/process_setup.h"
#include "cli/reading_options.h"
#include "core/config/reader.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/evaluation_config.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/scheduler.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

struct EvaluateOptions {
  ReadRuns runs;
  std::string lengths;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> seed;
  std::vector<std::string> settings;
  std::string device;
  std::int64_t workers = 0;
};

OptionValues read_settings(const std::vector<std::string>& settings) {
  const std::vector<std::string> known = all_evaluation_paths();
  OptionValues values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string path = setting.substr(0, equals);
    if (equals == std::string::npos || std::ranges::count(known, path) == 0) {
      throw Error(fmt::format("--set {}: allowed: KEY=VALUE of what only evaluation reads: {}", setting,
                              fmt::join(known, ", ")));
    }
    if (setting.find_first_of(";,", equals) != std::string::npos) {
      throw Error(fmt::format("--set {}: one setting at a time; repeat --set for more", setting));
    }
    if (!values.emplace(path.substr(path.find('.') + 1), setting.substr(equals + 1)).second) {
      throw Error(fmt::format("--set {}: {} is set twice", setting, path));
    }
  }
  return values;
}

// Throws Error for a value beyond the limits of a config's evaluation.
EvaluationRequest read_request(const EvaluateOptions& options) {
  EvaluationRequest request;
  if (!options.device.empty()) {
    device_choice(options.device);  // Refuses what is none.
    request.device = options.device;
  }
  if (options.lengths.empty() && !options.samples && !options.seed && options.settings.empty()) {
    throw Error("nothing to evaluate that `che run` has not: give --lengths, --samples, --seed or --set");
  }
  RunConfig config;
  const auto assign = [&](const char* option, std::string_view field, std::int64_t value) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kScalar;
    node.location.source = std::make_shared<const std::string>(option);
    node.text = std::to_string(value);
    assign_path(field, node, fields_of(config));
  };
  if (!options.lengths.empty()) {
    request.lengths = parse_number_or_range(options.lengths);
    if (!request.lengths || request.lengths->step > max_length(/*of_text=*/true)) {
      throw Error(
          fmt::format("--lengths {}: allowed: a length, or {}, such as 501:1000:50, with a step up to {}",
                      options.lengths, kIntegerRangeForms, max_length(/*of_text=*/true)));
    }
  }
  if (options.samples) {
    assign("--samples", "evaluation.samples", *options.samples);
    request.samples = options.samples;
  }
  if (options.seed) {
    assign("--seed", "evaluation.seed", *options.seed);
    request.seed = options.seed;
  }
  config.check();
  if (!options.settings.empty()) request.evaluation_settings = read_settings(options.settings);
  return request;
}

int evaluate(const EvaluateOptions& options) {
  // A config in place of the experiment is refused first: other messages are about options of a folder.
  std::error_code is_unreadable;
  if (std::filesystem::is_regular_file(options.runs.folder, is_unreadable)) find_runs(options.runs.folder);
  const EvaluationRequest request = read_request(options);
  const PendingWork work = prepare_evaluation(options.runs.folder, request, options.runs.choice());
  const Schedule schedule{.workers = workers_for(work.configs, options.workers), .evaluation = request};
  print_progress(fmt::format("{}: {} to evaluate with {}, {} evaluated before, {} left out\n",
                             counted(work.runs(), "run"), work.jobs.size(),
                             counted(schedule.workers, "worker"), work.complete, work.left_out));
  const int code = run_jobs(work.jobs, schedule, compute_program());
  const auto is_on_task = [](const RunConfig& config) { return !config.has_text(); };
  if (request.lengths && code == 0 && std::ranges::any_of(work.configs, is_on_task)) {
    const std::string folder = one_line(shell_word(options.runs.folder), kWholeText);
    const std::string how =
        request.evaluation_settings
            ? fmt::format(
                  " with --set: che evaluate {0} --lengths {1}, then che table {0} --score-lengths {1}",
                  folder, options.lengths)
            : fmt::format(", see: che table {} --lengths", folder);
    print_progress(fmt::format("Scores count the lengths of the runs' configs; for these{}\n", how));
  }
  return code == 0 && work.left_out > 0 ? 1 : code;
}

}  // namespace

void add_evaluate_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("evaluate", "Evaluate stored models at further lengths, without training");
  const auto options = set_action(*command, action, evaluate);
  command->footer(
      "Adds rows to each run's evaluation.csv. A score counts the lengths of the run's config only: to "
      "change these, read with --score-lengths, or run the config with other evaluation settings. --set "
      "measures a trained model with another setting of its encoding, which tables show as a column of its "
      "own.\n\n"
      "Examples:\n"
      "  che evaluate results/quick --lengths 501:1000:50 --samples 128\n"
      "  che evaluate results/quick --set encoding.scaling=yarn");
  add_read_runs(*command, options->runs);
  command->add_option(
      "--lengths", options->lengths,
      "first:last or first:last:step, such as 501:1000:50, or one length (default: the run's)");
  command->add_option("--samples", options->samples,
                      "samples per length, a multiple of 64 (default: the run's)");
  command->add_option("--seed", options->seed,
                      "seed that draws the samples, such as 1000 for samples that no score counts and "
                      "--select validation reads (default: the run's evaluation.seed)");
  command
      ->add_option(
          "--set", options->settings,
          fmt::format("KEY=VALUE of what only evaluation reads: {}", fmt::join(all_evaluation_paths(), ", ")))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--device", options->device,
                      "what computes, cpu, cuda or auto (default: the run's execution.device)");
  add_workers_option(*command, options->workers, ", or one for each GPU");
}

}  // namespace che
