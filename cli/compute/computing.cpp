#include "cli/computing.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/process_setup.h"
#include "core/clock.h"
#include "core/config/reader.h"
#include "core/error.h"
#include "core/process.h"
#include "core/text.h"
#include "experiments/learn/limits.h"
#include "experiments/measure/cost.h"
#include "experiments/measure/replica_choice.h"
#include "experiments/statistics/score_summary.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

struct MostReplicasOptions {
  std::vector<std::string> configs;
  std::int64_t workers = 0;
};

int print_most_replicas(const MostReplicasOptions& options) {
  for (const std::string& yaml : options.configs) {
    fmt::print("{}\n", most_replicas(parse_run_config(yaml, "CONFIG"), options.workers));
  }
  return 0;
}

void fill_most_replicas_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, print_most_replicas);
  command.add_option("CONFIG", options->configs, "texts of runs' configs")->required();
  command.add_option("--workers", options->workers, "workers that share the GPUs");
}

}  // namespace

void fill_computing_command(CLI::App& command, Action& action) {
  using Fill = void (*)(CLI::App&, Action&);
  static const std::map<std::string, Fill> by_name = {{"bench", fill_bench_command},
                                                      {"bias", fill_bias_command},
                                                      {"encoding", fill_encoding_command},
                                                      {"export-model", fill_export_model_command},
                                                      {"most-replicas", fill_most_replicas_command},
                                                      {"selftest", fill_selftest_command},
                                                      {"worker", fill_worker_command}};
  by_name.at(command.get_name())(command, action);
}

void apply_settings(const std::vector<std::string>& settings, std::string_view example,
                    const FieldVisitor::Members& fields,
                    const std::map<std::string_view, std::string_view>& of_options) {
  std::vector<std::pair<Setting, std::string>> parsed;
  parsed.reserve(settings.size());
  for (const std::string& text : settings) parsed.emplace_back(parse_setting(text, example), text);
  std::ranges::stable_sort(parsed, {}, [](const auto& setting) { return setting_rank(setting.first); });
  std::map<std::string, std::string> setters(of_options.begin(), of_options.end());
  for (const auto& [setting, text] : parsed) {
    for (const std::string& field : assign_path(setting.path, setting.value, fields)) {
      const auto [setter, is_new] = setters.emplace(field, text);
      if (is_new) continue;
      throw Error(fmt::format("{}: sets {}, which {} sets; leave one of them out", one_line(text), field,
                              one_line(setter->second)));
    }
  }
}

void choose_replicas(std::vector<RunConfig>& runs, std::int64_t workers) {
  // This process opens no GPU: one that serves a single process at a time serves the workers.
  choose_replicas(runs, [workers](const std::vector<RunConfig>& measured) {
    std::vector<std::string> words{compute_program().string(), "most-replicas", "--workers",
                                   std::to_string(workers)};
    for (const RunConfig& run : measured) words.push_back(to_yaml(run));
    const ProgramOutput told = run_program(words);
    std::istringstream numbers(told.output);
    std::vector<std::int64_t> most(measured.size());
    for (std::int64_t& one : most) numbers >> one;
    if (told.exit_code != 0 || !numbers) {
      throw Error(fmt::format("execution.replicas: auto: nothing was measured ({}); set a number",
                              one_line(told.messages, kWholeText)));
    }
    return most;
  });
}

double bf16_speed(const RunConfig& run) {
  constexpr int kPairs = 9;
  const ThreadLimit limit(1);
  const std::int64_t rows = run.training.batch_size * run.longest_training_sequence();
  const std::int64_t width = run.model.width(), hidden = width * run.model.shape().ffn_multiple;
  const at::Tensor left = at::rand({1, rows, width}), right = at::rand({1, width, hidden});
  const at::Tensor rounded = as_operand(right, Operands::kBf16);  // Once a step.
  const at::Tensor result = at::empty({1, rows, hidden});
  const auto seconds = [&](Operands operands, const at::Tensor& weight) {
    const Clock::time_point start = Clock::now();
    write_product(result, as_operand(left, operands), weight, Write::kReplace);
    return seconds_since(start);
  };
  std::vector<double> ratios;
  for (int pair = 0; pair <= kPairs; ++pair) {
    const double fp32 = seconds(Operands::kFp32, right);
    const double bf16 = seconds(Operands::kBf16, rounded);
    if (pair > 0) ratios.push_back(fp32 / bf16);
  }
  return aggregate_of(ratios, Aggregate::kMedian);
}

double measured_job_bytes(const std::vector<RunConfig>& runs) { return job_memory_bytes(runs); }

WarningSink warnings_of_config(std::vector<std::string>& /*held*/) { return print_warning; }

std::string describe_failure(const std::exception& error) {
  const std::string text = failure_text(error);
  return is_out_of_memory(error) ? text : "unexpected: " + text;
}

}  // namespace che
