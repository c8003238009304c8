#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/checkpoint.h"
#include "experiments/cost_estimate.h"
#include "experiments/job_list.h"
#include "experiments/model_of_run.h"
#include "experiments/operations.h"
#include "experiments/progress.h"
#include "experiments/result_table.h"
#include "experiments/results_store.h"
#include "experiments/scheduler.h"
#include "experiments/sweep.h"

namespace che {
namespace {

struct RunOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  std::vector<std::string> only;
  std::int64_t workers = 0;
  std::int64_t max_jobs = 0;
  bool retrain = false;
  bool list = false;
  bool dry_run = false;
};

// Each run's id and, where that is more than the names in the id, what a table of these runs would call its
// cell.
std::vector<std::string> describe_runs(const std::vector<RunConfig>& runs) {
  const CellLabels labels = label_cells(runs);
  std::vector<std::string> described;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [task, encoding] = labels.of[i];
    described.push_back(run_id(runs[i]));
    if (task != runs[i].task.name) described.back() += " " + task;
    if (encoding != runs[i].encoding.shorthand()) described.back() += " " + encoding;
  }
  return described;
}

// The runs with their states; writes nothing.
int list_runs(const Sweep& sweep, const std::filesystem::path& experiment) {
  const std::vector<std::string> described = describe_runs(sweep.runs);
  for (std::size_t i = 0; i < described.size(); ++i) {
    const RunConfig& config = sweep.runs[i];
    const StoredRun stored = RunFolder::at(experiment, config).read();
    const std::string& state = stored.status.state;
    fmt::print("{:<11} {}\n", state == "finished" && !is_complete(stored, config) ? "waiting" : state,
               described[i]);
  }
  return 0;
}

// What the sweep is made of and what it would cost; runs nothing.
int show_plan(const Sweep& sweep, const std::filesystem::path& folder, std::int64_t workers) {
  Operations to_do;
  double seconds = 0;
  std::size_t complete = 0;
  CostEstimate estimate;
  std::set<std::string> cells;
  fmt::print("{:>12} {:>10} {:>10} {:>8}  {}\n", "parameters", "train", "evaluate", "time", "run");
  const std::vector<std::string> described = describe_runs(sweep.runs);
  for (std::size_t i = 0; i < described.size(); ++i) {
    const RunConfig& run = sweep.runs[i];
    const RunFolder run_folder = RunFolder::at(folder, run);
    const StoredRun stored = run_folder.read();
    const bool is_done = is_complete(stored, run);
    const Operations left = operations_left(run, stored, has_checkpoint(run_folder.path()));
    const double run_seconds = left.all() > 0 ? estimate.seconds(run, left) : 0;
    fmt::print("{:>12} {:>10.2e} {:>10.2e} {:>8}  {}\n", parameter_count(run), left.training, left.evaluation,
               is_done ? "done" : duration_text(run_seconds), described[i]);
    cells.insert(cell_id(run));
    complete += is_done ? 1U : 0U;
    to_do.training += left.training;
    to_do.evaluation += left.evaluation;
    seconds += run_seconds;
  }
  fmt::print(
      "\n{}: {} of {} in {}, {} done; to do: {:.2e} floating point operations in "
      "training, {:.2e} in "
      "evaluation (nominal: nothing trimmed); about {} for one worker, {} for {}, by measured steps of "
      "each encoding; results would go to {}\n",
      sweep.name, counted(sweep.runs.size(), "run"), counted(cells.size(), "cell"),
      counted(group_into_jobs(sweep.runs).size(), "job"), complete, to_do.training, to_do.evaluation,
      duration_text(seconds), duration_text(seconds / static_cast<double>(workers)), workers,
      folder.string());
  return 0;
}

int run(const RunOptions& options) {
  const Sweep sweep = read_sweep(options.config, options.overrides, options.only);
  const std::filesystem::path experiment = options.output.empty()
                                               ? std::filesystem::path("results") / sweep.name
                                               : std::filesystem::path(options.output);
  const std::int64_t workers = options.workers > 0 ? options.workers : default_workers(sweep.runs);
  if (options.list) return list_runs(sweep, experiment);
  if (options.dry_run) return show_plan(sweep, experiment, workers);

  create_writable_folder(experiment);
  const FileLock lock(experiment / "lock");
  // Every run is looked at before any is written.
  std::vector<RunFolder> folders;
  std::vector<RunFolder> pending;
  std::vector<RunConfig> configs;
  std::vector<std::string> lost;  // Trained runs that have something left to do and no model to do it with.
  for (const RunConfig& config : sweep.runs) {
    const RunFolder& folder = folders.emplace_back(RunFolder::at(experiment, config));
    const StoredRun stored = folder.read();
    if (is_complete(stored, config)) continue;
    configs.push_back(config);
    pending.push_back(folder);
    const bool was_trained = stored.status.state == "finished" || !stored.evaluation.empty();
    if (was_trained && !missing_lengths(stored.evaluation, config.evaluation).empty() &&
        !has_checkpoint(folder.path())) {
      lost.push_back(folder.id());
    }
  }
  if (!lost.empty() && !options.retrain) {
    throw Error(fmt::format(
        "no checkpoint (pruned or damaged?) to evaluate missing test lengths with: {}, {} the first; ask for "
        "the lengths that are there, or give --retrain to train afresh, which replaces results",
        counted(lost.size(), "trained run"), lost.front()));
  }
  for (const RunFolder& folder : folders) folder.store_config();
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::vector<std::size_t>& job : group_into_jobs(configs)) {
    jobs.emplace_back();
    for (const std::size_t index : job) jobs.back().push_back(pending[index]);
  }
  fmt::print("{}: {}, {} done, {} to do in {} with {}; results in {}\n", sweep.name,
             counted(sweep.runs.size(), "run"), sweep.runs.size() - pending.size(), pending.size(),
             counted(jobs.size(), "job"), counted(workers, "worker"), experiment.string());
  const Schedule schedule{.workers = workers, .max_jobs = options.max_jobs, .evaluation = std::nullopt};
  return run_jobs(jobs, schedule, std::filesystem::read_symlink("/proc/self/exe"));
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Train and evaluate every run of a config; finished runs are skipped, interrupted ones resume, failed "
      "ones are tried again");
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
  add_only_option(*command, options->only);
  command
      ->add_option("--max-jobs", options->max_jobs,
                   "Start at most so many jobs; exits with 75 when others are left")
      ->check(CLI::Range(1, 100'000));
  command->add_flag("--retrain", options->retrain,
                    "Train runs afresh whose checkpoints were pruned and that lack test lengths; replaces "
                    "their results");
  command->add_flag("--list", options->list, "List the runs and their states; run nothing");
  command->add_flag("--dry-run", options->dry_run,
                    "List runs with their parameters and what is left to do of them: operations and the time "
                    "estimated from measured steps; run nothing");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace che
