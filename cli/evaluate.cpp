#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/config/reader.h"
#include "core/counted.h"
#include "core/error.h"
#include "experiments/scheduling/pending_work.h"
#include "experiments/scheduling/progress_display.h"
#include "experiments/scheduling/scheduler.h"
#include "experiments/scheduling/worker_count.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

struct EvaluateOptions {
  ReadRuns runs;
  std::string lengths;
  std::int64_t samples = 0;
  std::int64_t workers = 0;
};

// Within the limits of a config's evaluation.
EvaluationRequest read_request(const EvaluateOptions& options) {
  const auto lengths = parse_integer_range(options.lengths);
  if (!lengths) {
    throw Error(
        fmt::format("--lengths {}: allowed: {}, such as 501:1000:50", options.lengths, kIntegerRangeForms));
  }
  RunConfig config;
  const auto assign = [&](const char* option, std::string_view field, std::int64_t value) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kScalar;
    node.location.source = std::make_shared<const std::string>(option);
    node.text = std::to_string(value);
    assign_path(field, node, [&](FieldVisitor& visitor) { config.visit_fields(visitor); });
  };
  assign("--lengths", "evaluation.first_length", lengths->first);
  assign("--lengths", "evaluation.last_length", lengths->last);
  assign("--lengths", "evaluation.length_step", lengths->step);
  assign("--samples", "evaluation.samples", options.samples);
  config.check();
  return {*lengths, options.samples};
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
      "change these, run the config with other evaluation settings.");
  add_read_runs(*command, options->runs);
  command->add_option("--lengths", options->lengths, "first:last or first:last:step, such as 501:1000:50")
      ->required();
  command->add_option("--samples", options->samples, "samples per length, a multiple of 64")->required();
  command
      ->add_option("-w,--workers", options->workers,
                   "worker processes at a time (default: as many as cores and memory serve)")
      ->check(CLI::Range(1, 1024));
  command->callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

}  // namespace che
