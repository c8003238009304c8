#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/version.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/measure/replica_choice.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/run_config.h"
#include "experiments/schedule/devices.h"

namespace che {
namespace {

constexpr std::array kEncodings = {"alibi", "dape_kerple"};

struct BenchOptions {
  std::string task = "even_pairs";
  std::vector<std::string> encodings;  // Empty: kEncodings.
  std::vector<std::int64_t> lengths{40};
  std::vector<std::string> settings;  // key=value
  BenchmarkPlan plan;
  std::string json;
};

RunConfig config_of(const BenchOptions& options, const std::string& encoding) {
  RunConfig config;
  config.task.reset(options.task);
  config.encoding.reset(encoding);
  config.training.last_length = *std::max_element(options.lengths.begin(), options.lengths.end());
  apply_settings(
      options.settings, "model.width=64", fields_of(config),
      {{"task.name", "--task"}, {"encoding.name", "--encoding"}, {"training.last_length", "--length"}});
  if (config.has_text())
    throw Error("text: bench times tasks; leave the text out, and set model.kind=decoder");
  config.check();
  return config;
}

// Returns one config for each encoding, or one in all for a kind of model without encodings.
std::vector<RunConfig> configs_of(const BenchOptions& options) {
  std::vector<std::string> encodings = options.encodings;
  if (encodings.empty()) encodings.assign(kEncodings.begin(), kEncodings.end());
  std::vector<RunConfig> configs;
  for (const std::string& encoding : encodings) {
    configs.push_back(config_of(options, encoding));
    if (configs.back().model.entry().takes_encoding) continue;
    if (options.encodings.empty()) break;
    throw Error(
        fmt::format("--encoding: model.kind={} takes no encoding; leave it out", configs.back().model.kind));
  }
  return configs;
}

nlohmann::ordered_json to_json(const RunConfig& config, std::int64_t length, const StepCost& cost) {
  nlohmann::ordered_json row{{"task", config.row_label().text()},
                             {"encoding", config.column_label().text()},
                             {"length", length},
                             {"tokens", cost.tokens},
                             {"width", config.model.width()},
                             {"replicas", config.execution.replicas},
                             {"milliseconds", 1e3 * cost.seconds}};
  for (const auto& [part, seconds] : cost.parts) row["parts"][part] = 1e3 * seconds;
  row["samples_per_second"] = cost.samples_per_second;
  row["operations"] = cost.operations;
  row["matrix_rate"] = cost.matrix_rate;
  row["share"] = cost.share;
  row["peak_mib"] = cost.peak_bytes / 0x1p20;
  return row;
}

int bench(const BenchOptions& options) {
  check_output_file("--json", options.json);
  std::vector<RunConfig> configs = configs_of(options);
  const std::int64_t threads = usable_threads(configs.front().execution.threads);
  for (const std::string& note : choose_precision(configs, {}, bf16_speed)) fmt::print("{}\n", note);
  check_devices(configs);
  if (const auto warning = threads_warning(configs)) print_warning(*warning);
  const ThreadLimit limit(threads);
  const RunConfig& first = configs.front();
  const std::string device = open_device(first.execution).description;
  for (RunConfig& config : configs) {
    if (config.execution.replicas != kAutoReplicas) continue;
    config.execution.replicas = most_replicas(config, 1);
    fmt::print("{}: execution.replicas: auto chooses {}\n", config.column_label().text(),
               config.execution.replicas);
  }
  fmt::print("{} of {}, {}, batch {}, {} thread{}, {} kernels, {}; medians of {}, ms\n\n",
             options.plan.evaluate ? "evaluation" : "training", options.task, first.model.text(),
             options.plan.evaluate ? kEvaluationBatch : first.training.batch_size, threads,
             threads == 1 ? "" : "s", kernels_name(first.execution.kernels), device, options.plan.steps);
  fmt::print("{:<24} {:>6} {:>6} {:>9} {:>9} {:>9} {:>8} {:>9} {:>7} {:>7} {:>9} {:>7} {:>6} {:>8}\n",
             "model", "length", "tokens", options.plan.evaluate ? "batch" : "step", "attention", "linear",
             "norm", "optimiser", "data", "other", "samples/s", "GFLOP/s", "share", "peak MiB");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunConfig& config : configs) {
    for (const std::int64_t length : options.lengths) {
      const StepCost cost = measure_step(config, length, options.plan, backend_of(config.execution));
      const auto part = [&](const char* name) { return 1e3 * cost.parts.at(name); };
      fmt::print(
          "{:<24} {:>6} {:>6} {:>9.1f} {:>9.1f} {:>9.1f} {:>8.1f} {:>9.1f} {:>7.1f} {:>7.1f} {:>9.0f} "
          "{:>7.1f} {:>6.2f} {:>8.0f}\n",
          config.column_label().text(), length, cost.tokens, 1e3 * cost.seconds, part("attention"),
          part("linear"), part("norm"), part("optimiser"), part("data"), part("other"),
          cost.samples_per_second, cost.matrix_rate / 1e9, cost.share, cost.peak_bytes / 0x1p20);
      std::fflush(stdout);
      rows.push_back(to_json(config, length, cost));
    }
  }
  if (!options.json.empty()) {
    const nlohmann::ordered_json report{
        {"commit", git_commit()}, {"mode", options.plan.evaluate ? "evaluation" : "training"},
        {"threads", threads},     {"kernels", kernels_name(first.execution.kernels)},
        {"device", device},       {"rows", rows}};
    write_output(options.json, report.dump(1) + "\n");
  }
  return 0;
}

}  // namespace

void fill_bench_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, bench);
  command.footer("Times are by part of the model, next to the rate of a matrix product of the same size.");
  command.add_option("--task", options->task, "task ('che list tasks')")->capture_default_str();
  command.add_option("--encoding", options->encodings, "NAME,NAME...: one row each ('che list encodings')")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str(fmt::format("[{}]", fmt::join(kEncodings, ",")));
  command.add_option("--length", options->lengths, "LENGTH,LENGTH...: one row each")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str();
  command.add_flag("--evaluate", options->plan.evaluate,
                   "a batch of 64 without gradients, not a training step");
  command.add_option("--steps", options->plan.steps, "timed steps a row")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str();
  command.add_option("--json", options->json, "also write the numbers to this file");
  command.add_option("key=value", options->settings,
                     "settings of the runs, such as model.width=64, execution.kernels=reference or "
                     "execution.threads=2");
}

}  // namespace che
