#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/config/field_list.h"
#include "core/config/reader.h"
#include "core/counted.h"
#include "core/error.h"
#include "experiments/scheduling/pending_work.h"
#include "experiments/scheduling/progress_display.h"
#include "experiments/scheduling/scheduler.h"
#include "experiments/scheduling/worker_count.h"
#include "experiments/store/experiment_folder.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

struct EvaluateOptions {
  ReadRuns runs;
  std::string lengths;
  std::optional<std::int64_t> samples;
  std::vector<std::string> settings;
  std::string device;
  std::int64_t workers = 0;
};

// The settings of any encoding that only evaluation reads, such as "encoding.scaling".
std::vector<std::string> evaluation_settings() {
  std::set<std::string> settings;
  const auto& registry = Registry<EncodingEntry>::instance();
  for (const std::string& name : registry.names()) {
    EncodingConfig config;
    config.reset(name);
    for (const FieldRecord& field : list_fields(fields_of(config))) {
      if (field.role == Role::kEvaluation) settings.insert("encoding." + field.path);
    }
  }
  return {settings.begin(), settings.end()};
}

// What several --set ask for, in the form of EncodingConfig::evaluation_settings.
std::string read_settings(const std::vector<std::string>& settings) {
  const std::vector<std::string> known = evaluation_settings();
  std::map<std::string, std::string> values;
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
  std::vector<std::string> texts;
  for (const auto& [name, value] : values) texts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(texts, ";"));
}

// Within the limits of a config's evaluation.
EvaluationRequest read_request(const EvaluateOptions& options) {
  EvaluationRequest request;
  if (options.lengths.empty() && !options.samples && options.settings.empty()) {
    throw Error("nothing to evaluate that `che run` has not: give --lengths, --samples or --set");
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
    request.lengths = parse_integer_range(options.lengths);
    if (!request.lengths) {
      throw Error(
          fmt::format("--lengths {}: allowed: {}, such as 501:1000:50", options.lengths, kIntegerRangeForms));
    }
    assign("--lengths", "evaluation.first_length", request.lengths->first);
    assign("--lengths", "evaluation.last_length", request.lengths->last);
    assign("--lengths", "evaluation.length_step", request.lengths->step);
  }
  if (options.samples) {
    assign("--samples", "evaluation.samples", *options.samples);
    request.samples = options.samples;
  }
  config.check();
  if (!options.device.empty()) {
    device_choice(options.device);  // Refuses what is none.
    request.device = options.device;
  }
  if (!options.settings.empty()) request.encoding_settings = read_settings(options.settings);
  return request;
}

int evaluate(const EvaluateOptions& options) {
  const EvaluationRequest request = read_request(options);
  const PendingWork work = prepare_evaluation(options.runs.folder, request, options.runs.choice());
  const Schedule schedule{.workers = workers_for(work.configs, options.workers), .evaluation = request};
  print_progress(
      fmt::format("{}: {} to evaluate with {}, {} evaluated before, {} left out (not finished or damaged)\n",
                  counted(work.runs(), "run"), work.jobs.size(), counted(schedule.workers, "worker"),
                  work.complete, work.left_out));
  const int code = run_jobs(work.jobs, schedule, std::filesystem::read_symlink("/proc/self/exe"));
  return code == 0 && work.left_out > 0 ? 1 : code;
}

}  // namespace

void add_evaluate_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* const command =
      app.add_subcommand("evaluate", "Evaluate stored models at further lengths, without training");
  command->footer(
      "Adds rows to each run's evaluation.csv. A score counts the lengths of the run's config only: to "
      "change these, run the config with other evaluation settings. --set measures a trained model with "
      "another "
      "setting of its encoding, which tables show as a column of its own.\n\n"
      "Examples:\n"
      "  che evaluate results/quick --lengths 501:1000:50 --samples 128\n"
      "  che evaluate results/quick --set encoding.scaling=yarn");
  add_read_runs(*command, options->runs);
  command->add_option("--lengths", options->lengths,
                      "first:last or first:last:step, such as 501:1000:50 (default: the run's)");
  command->add_option("--samples", options->samples,
                      "samples per length, a multiple of 64 (default: the run's)");
  command
      ->add_option(
          "--set", options->settings,
          fmt::format("KEY=VALUE of what only evaluation reads: {}", fmt::join(evaluation_settings(), ", ")))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--device", options->device,
                      "what computes, cpu, cuda or auto (default: the run's execution.device)");
  command
      ->add_option(
          "-w,--workers", options->workers,
          "worker processes at a time (default: as many as cores and memory serve, or one for each GPU)")
      ->check(CLI::Range(1, 1024));
  command->callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

}  // namespace che
