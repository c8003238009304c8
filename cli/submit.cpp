#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/computing.h"
#include "cli/process_setup.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/results/other_runs.h"
#include "experiments/schedule/batch_script.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/slurm.h"
#include "experiments/schedule/submission.h"

namespace che {
namespace {

// Slurm's default. --print uses it if there is no Slurm to ask.
constexpr std::int64_t kUsualArraySize = 1001;

struct SubmitOptions {
  ReadConfig config;
  std::string output;
  bool slurm = false;
  bool manifest = false;
  bool retrain = false;
  bool print = false;
  std::int64_t jobs_per_task = 1;  // --runs-per-task: a job is a run, or some in lock-step.
  std::int64_t array_parallel = 0;
  BatchOptions batch;
};

// Returns what Slurm answers, or `otherwise` where it does not answer and only scripts are printed.
template <class Answer>
Answer ask_slurm(Answer (*ask)(), bool print, Answer otherwise) {
  try {
    return ask();
  } catch (const Error& error) {
    if (print) return otherwise;
    throw Error(fmt::format("Slurm does not answer here: {}; --print writes its scripts without it, "
                            "--manifest serves other batch systems",
                            error.what()),
                error.kind());
  }
}

std::vector<std::vector<RunConfig>> runs_by_task(const std::vector<std::vector<RunFolder>>& jobs,
                                                 std::int64_t jobs_per_task) {
  std::vector<std::vector<RunConfig>> tasks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i % static_cast<std::size_t>(jobs_per_task) == 0) tasks.emplace_back();
    for (const RunFolder& run : jobs[i]) tasks.back().push_back(run.config());
  }
  return tasks;
}

int submit(const SubmitOptions& options) {
  check_batch_options(options.batch);
  if (!options.slurm && !options.manifest) {
    throw Error("name the batch system: --slurm, or --manifest for another one");
  }
  std::vector<std::string> warnings;
  Sweep sweep = options.config.sweep(warnings_of_config(warnings));
  for (const RunConfig& run : sweep.runs) {
    if (run.execution.devices.empty()) continue;
    throw Error("execution.devices: is for `che run`; the batch system gives each task its GPUs (--gpus)");
  }
  const std::filesystem::path experiment =
      std::filesystem::absolute(results_folder(options.output, sweep.name));
  const std::vector<std::string> notes = choose_precision(sweep.runs, experiment, bf16_speed);
  choose_replicas(sweep.runs, 0);
  BatchOptions batch = options.batch;
  for (const RunConfig& run : sweep.runs) batch.cores = std::max(batch.cores, run.execution.threads);
  if (batch.memory == "auto") {
    if (std::ranges::any_of(sweep.runs, may_use_gpu)) {
      throw Error("--mem auto: is for runs on a CPU; name what a process with a GPU needs, such as 16G");
    }
    batch.memory = memory_request(measured_job_bytes(sweep.runs));
  }
  for (const std::string& warning : warnings) print_warning(warning);
  for (const std::string& note : notes) print_progress(note + "\n");
  if (options.slurm) check_log_folder(experiment);
  // Slurm is asked before anything is written, because it may not answer.
  const std::int64_t largest =
      options.manifest ? 0 : ask_slurm(max_array_size, options.print, kUsualArraySize);
  announce_other_runs(sweep, experiment);
  const std::optional<std::string> otherwise = evaluated_otherwise(sweep.runs, experiment, options.retrain);
  PendingWork work = prepare_training(sweep.runs, experiment, options.retrain);
  if (otherwise) print_progress(*otherwise + "\n");
  for (const std::string& note : work.notes) print_progress(note + "\n");
  std::vector<Submission> before = read_submissions(experiment);
  std::vector<QueuedJob> queue;
  if (!before.empty() && !options.manifest) queue = ask_slurm(queued_jobs, options.print, {});
  if (!options.print && !options.manifest) {
    for (Submission& submission : before) complete_submission(submission, queue);
  }
  const std::set<std::string> queued = runs_in_queue(before, queue);
  const std::vector<std::vector<RunFolder>> jobs = jobs_out_of_queue(work.jobs, queued);
  const auto waits = [&](const RunConfig& config) { return queued.contains(run_id(config)); };
  print_progress(fmt::format("{}: {}, {} done, {} in the queue, {} to submit; results in {}\n", sweep.name,
                             counted(work.runs(), "run"), work.complete,
                             std::ranges::count_if(work.configs, waits), counted(jobs.size(), "job"),
                             one_line(experiment.string(), kWholeText)));
  if (jobs.empty()) return 0;
  std::erase_if(work.to_begin_again, [&](const auto& run) { return queued.contains(run.first); });
  Submission submission = create_submission(experiment, jobs, static_cast<std::size_t>(options.jobs_per_task),
                                            work.to_begin_again);
  if (options.manifest) {
    fmt::print("submission: {}\ntasks: {} (0 to {})\n", one_line(submission.file().string(), kWholeText),
               submission.tasks.size(), submission.tasks.size() - 1);
    return 0;
  }
  warn_of_unfitting_options(batch, runs_by_task(jobs, options.jobs_per_task), print_warning);
  const std::filesystem::path program = program_file("che");
  const std::string name = "che-" + sweep.name;
  const std::string script = array_script(submission, name, program, batch);
  write_file_atomically(submission.array_script(), script);
  write_file_atomically(submission.summary_script(),
                        summary_script(submission, name + "-summary", program, batch));

  std::vector<SubmittedArray> parts;
  const auto size = static_cast<std::size_t>(largest);
  for (std::size_t first = 0; first < submission.tasks.size(); first += size) {
    parts.push_back({.job = 0, .first = first, .count = std::min(size, submission.tasks.size() - first)});
  }
  if (!options.print) {
    submit_arrays(submission, parts, options.array_parallel);
    return 0;
  }
  fmt::print("{}\n", script);
  for (const SubmittedArray& part : parts) {
    fmt::print("sbatch --array={} {} {}\n", array_elements(part.count, options.array_parallel),
               one_line(shell_word(submission.array_script().string()), kWholeText), part.first);
  }
  fmt::print("sbatch --dependency=afterany:JOB[:JOB...] {}\n",
             one_line(shell_word(submission.summary_script().string()), kWholeText));
  return 0;
}

}  // namespace

void add_submit_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("submit", "Hand the runs of a config to a batch system");
  const auto options = set_action(*command, action, submit);
  command->footer(
      "Submits what is neither finished nor in the queue, as a job array, and a job that makes table and "
      "report when it has ended. Call it again to submit what is missing or failed: finished runs are never "
      "submitted, without an option such as --exclude-finished. 'che status' shows the queue too. Example:\n "
      " che submit configs/table2.yaml --slurm --partition cpu --time 4:00:00 --array-parallel 200");
  BatchOptions& batch = options->batch;
  add_read_config(*command, options->config);
  CLI::Option* const slurm = command->add_flag("--slurm", options->slurm, "the batch system: Slurm");
  command
      ->add_flag("--manifest", options->manifest,
                 "another batch system: write the list of tasks and print its path and their number; "
                 "examples/cluster/ starts them")
      ->excludes(slurm);
  command->add_option("-o,--output", options->output,
                      "results folder (default: results/<name of the config>); every node must see it");
  command->add_option("--partition", batch.partition, "partition (default: the site's)")->needs(slurm);
  command->add_option("--time", batch.time, "time limit of a task, as sbatch takes it (default: the site's)")
      ->needs(slurm);
  command
      ->add_option(
          "--mem", batch.memory,
          "memory of a task, such as 4G, or auto: what its job needs as measured here, and a quarter more "
          "(default: the site's)")
      ->needs(slurm);
  command->add_option("--cpus", batch.cores, "cores of a task (default: execution.threads)")
      ->check(CLI::Range(1, 1024))
      ->needs(slurm);
  command->add_option("--gpus", batch.gpus, "GPUs of a task (default: none)")->needs(slurm);
  command->add_option("--sbatch", batch.others, "further option of sbatch, such as --sbatch=--account=NAME")
      ->allow_extra_args(false)
      ->needs(slurm);
  command
      ->add_option("--runs-per-task", options->jobs_per_task,
                   "runs, or jobs of runs in lock-step, that a task works on one after the other")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--array-parallel", options->array_parallel, "tasks at a time (default: no limit)")
      ->check(CLI::Range(1, 100'000))
      ->needs(slurm);
  command
      ->add_option("--warning", batch.warning_seconds,
                   "seconds before the time limit at which a task writes a checkpoint and goes back into the "
                   "queue")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str()
      ->needs(slurm);
  CLI::Option* const restarts =
      command->add_option("--max-restarts", batch.max_restarts, "how often a task goes back into the queue")
          ->check(CLI::Range(0, 100'000))
          ->capture_default_str()
          ->needs(slurm);
  command
      ->add_option("--preempted-exit", batch.preempted_exit,
                   "a task that stops at a checkpoint exits with this code and does not go back by itself: "
                   "for sites that put such tasks back")
      ->check(CLI::Range(0, 255))
      ->excludes(restarts)
      ->needs(slurm);
  command->add_flag(
      "--retrain", options->retrain,
      "as for run: train runs again whose checkpoints were pruned and that lack test lengths, and "
      "runs that have passed steps of evaluation.at_steps, whose models are deleted as their tasks begin");
  command->add_flag("--print", options->print,
                    "write the files, the runs' configs included, and print what to submit; submit nothing");
}

}  // namespace che
