#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/config_reader.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/scheduler.h"

namespace che {
namespace {

struct EvaluateOptions {
  std::string folder;
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
  const ConfigNode asked =
      parse_config(fmt::format("{{first_length: {}, last_length: {}, length_step: {}, samples: {}}}",
                               lengths->first, lengths->last, lengths->step, options.samples),
                   "--lengths, --samples");
  assign_path("evaluation", asked, [&](FieldVisitor& visitor) { config.visit_fields(visitor); });
  config.check();
  return {*lengths, options.samples};
}

int evaluate(const EvaluateOptions& options) {
  const EvaluationRequest request = read_request(options);
  std::size_t left_out = 0;
  const auto leave_out = [&](const std::string& reason) {
    ++left_out;
    print_warning(reason);
  };
  std::vector<RunFolder> runs = open_runs(options.folder, leave_out);
  const FileLock lock(std::filesystem::path(options.folder) / "lock");
  std::vector<std::vector<RunFolder>> jobs;
  std::vector<RunConfig> configs;
  std::size_t present = 0;
  std::size_t waiting = 0;
  for (RunFolder& run : runs) {
    const StoredRun stored = run.read();
    if (!stored.damage.empty()) {
      leave_out("left out: " + stored.status.error);
    } else if (stored.status.state == "waiting") {
      ++waiting;
    } else if (stored.status.state != "finished") {
      leave_out(fmt::format("left out: {} is not finished but {}; `che run` trains it", run.path().string(),
                            stored.status.state));
    } else if (missing_lengths(stored.evaluation, request.applied_to(run.config().evaluation)).empty()) {
      ++present;
    } else {
      configs.push_back(run.config());
      jobs.push_back({std::move(run)});
    }
  }
  if (waiting > 0) {
    print_warning(fmt::format("left out: {} of {}, not begun; `che run` trains them", waiting,
                              counted(runs.size(), "run")));
    left_out += waiting;
  }
  const Schedule schedule{.workers = options.workers > 0 ? options.workers : default_workers(configs),
                          .evaluation = request};
  fmt::print("{}: {} to evaluate with {}, {} evaluated before, {} not finished or damaged\n",
             counted(jobs.size() + present + left_out, "run"), jobs.size(),
             counted(schedule.workers, "worker"), present, left_out);
  const int code = run_jobs(jobs, schedule, std::filesystem::read_symlink("/proc/self/exe"));
  return code == 0 && left_out > 0 ? 1 : code;
}

}  // namespace

void add_evaluate_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* const command = app.add_subcommand(
      "evaluate",
      "Evaluate the stored models of an experiment at further lengths, without training; adds rows to each "
      "run's evaluation.csv. A score counts what its config asks for: run the config with other "
      "evaluation settings to have them in tables");
  command->add_option("folder", options->folder, "results folder, as written by che run")->required();
  command->add_option("--lengths", options->lengths, "first:last or first:last:step, such as 501:1000:50")
      ->required();
  command->add_option("--samples", options->samples, "samples a length, a multiple of 64")->required();
  command->add_option("-w,--workers", options->workers, "worker processes side by side")
      ->check(CLI::Range(1, 1024));
  command->callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

}  // namespace che
