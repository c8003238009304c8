#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/job_list.h"
#include "experiments/model_of_run.h"
#include "experiments/results_store.h"
#include "experiments/scheduler.h"
#include "experiments/sweep.h"

namespace che {
namespace {

struct RunOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  std::int64_t workers = 0;
  bool dry_run = false;
};

// What the sweep is made of and what it would cost; runs nothing.
int show_plan(const Sweep& sweep, const std::filesystem::path& folder) {
  double training = 0;
  double evaluation = 0;
  std::set<std::string> cells;
  fmt::print("{:<60} {:>12} {:>10} {:>10}\n", "run", "parameters", "train", "evaluate");
  for (const RunConfig& run : sweep.runs) {
    const double steps = training_step_operations(run) * static_cast<double>(run.training.steps);
    const double lengths = evaluation_operations(run);
    fmt::print("{:<60} {:>12} {:>10.2e} {:>10.2e}\n", run_id(run), parameter_count(run), steps, lengths);
    training += steps;
    evaluation += lengths;
    cells.insert(cell_id(run));
  }
  fmt::print(
      "\n{}: {} runs of {} cells in {} jobs; {:.2e} floating point operations in training, {:.2e} in "
      "evaluation (nominal: nothing trimmed); results would go to {}\n",
      sweep.name, sweep.runs.size(), cells.size(), group_into_jobs(sweep.runs).size(), training, evaluation,
      folder.string());
  return 0;
}

// As many as cores and physical memory serve.
std::int64_t default_workers(const ExecutionConfig& execution) {
  constexpr double kWorkerGib = 2;  // Beside evaluation's activations: LibTorch, parameters, training.
  const double memory_gib =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 0x1p30;
  const std::int64_t by_cores = std::thread::hardware_concurrency() / execution.threads;
  const auto by_memory = static_cast<std::int64_t>(memory_gib / (execution.memory_gib + kWorkerGib));
  return std::max<std::int64_t>(1, std::min(by_cores, by_memory));
}

int run(const RunOptions& options) {
  const Sweep sweep = read_sweep(options.config, options.overrides);
  const std::filesystem::path experiment = options.output.empty()
                                               ? std::filesystem::path("results") / sweep.name
                                               : std::filesystem::path(options.output);
  if (options.dry_run) return show_plan(sweep, experiment);

  create_writable_folder(experiment);
  const FileLock lock(experiment / "lock");
  // Every run is looked at before any is written.
  std::vector<RunFolder> folders;
  for (const RunConfig& config : sweep.runs) folders.push_back(RunFolder::at(experiment, config));
  std::vector<RunFolder> pending;
  std::vector<RunConfig> configs;
  for (RunFolder& folder : folders) {
    folder.store_config();
    if (is_complete(folder)) continue;
    configs.push_back(folder.config());
    pending.push_back(std::move(folder));
  }
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::vector<std::size_t>& job : group_into_jobs(configs)) {
    jobs.emplace_back();
    for (const std::size_t index : job) jobs.back().push_back(pending[index]);
  }
  const std::int64_t workers =
      options.workers > 0 ? options.workers : default_workers(sweep.runs.front().execution);
  fmt::print("{}: {} runs, {} done, {} to do in {} jobs with {} workers; results in {}\n", sweep.name,
             sweep.runs.size(), sweep.runs.size() - pending.size(), pending.size(), jobs.size(), workers,
             experiment.string());
  return run_jobs(jobs, workers, std::filesystem::read_symlink("/proc/self/exe"));
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "run", "Train and evaluate every run of a config; finished runs are skipped, interrupted ones resume");
  auto options = std::make_shared<RunOptions>();
  command->add_option("CONFIG", options->config, "YAML file, see configs/")->required();
  command->add_option("key=value", options->overrides,
                      "Settings that replace the config's, such as training.steps=100 or axes.seed=[0,1]");
  command->add_option("-o,--output", options->output,
                      "Results folder (default: results/<name of the config>)");
  command
      ->add_option("-w,--workers", options->workers,
                   "Worker processes side by side (default: as many as cores and memory serve)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--dry-run", options->dry_run,
                    "List runs, jobs, parameters and estimated operations; run nothing");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace che
