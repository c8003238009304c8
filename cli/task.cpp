#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/process_setup.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/process.h"
#include "experiments/plan/identity.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/scheduler.h"
#include "experiments/schedule/slurm.h"
#include "experiments/schedule/submission.h"

namespace che {
namespace {

struct TaskOptions {
  std::string submission;
  std::int64_t number = 0;
  std::int64_t max_restarts = 0;
  std::optional<int> preempted_exit;
};

// Returns a whole number of the environment, or nothing where it has none.
std::optional<std::int64_t> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_integer(text);
}

// Returns the exit code of a task that stopped at a checkpoint. Slurm warns of the time limit by SIGUSR1; the
// task then goes back into the queue by itself. Whoever sends another signal decides what becomes of the
// task.
int stop(const TaskOptions& options) {
  if (options.preempted_exit) return *options.preempted_exit;
  const auto array = number_in_environment("SLURM_ARRAY_JOB_ID");
  const auto index = number_in_environment("SLURM_ARRAY_TASK_ID");
  if (!array || !index || stop_signal().load() != SIGUSR1) return kExitAgain;
  const std::int64_t restarts = number_in_environment("SLURM_RESTART_COUNT").value_or(0);
  if (restarts >= options.max_restarts) {
    print_progress(fmt::format(
        "Not put back into the queue: it was restarted {} times, --max-restarts allows {}; submit again\n",
        restarts, options.max_restarts));
    return kExitAgain;
  }
  const std::string element = fmt::format("{}_{}", *array, *index);
  requeue(element);
  print_progress(fmt::format("Put back into the queue as {}\n", element));
  return 0;
}

int work(const TaskOptions& options) {
  catch_stop_signals();  // A signal may come before there are workers.
  const Submission submission = read_submission(options.submission);
  if (submission.tasks.empty()) throw Error(fmt::format("{} has no tasks", options.submission));
  if (options.number < 0 || std::cmp_greater_equal(options.number, submission.tasks.size())) {
    throw Error(fmt::format("NUMBER {}: {} has tasks 0 to {}", options.number, options.submission,
                            submission.tasks.size() - 1));
  }
  // A later call may have asked for other lengths of some runs, which then are a job of their own.
  PassedSteps to_begin_again;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::vector<std::string>& ids : submission.tasks[static_cast<std::size_t>(options.number)]) {
    std::vector<RunFolder> runs;
    std::vector<RunConfig> configs;
    for (const std::string& id : ids) {
      runs.push_back(RunFolder::open(submission.experiment() / "runs" / id));
      configs.push_back(runs.back().config());
      const auto again = submission.begin_again.find(id);
      if (again != submission.begin_again.end() && !is_present(submission.begun_again(id))) {
        to_begin_again.insert(*again);
      }
    }
    for (const std::vector<std::size_t>& indices : group_into_jobs(configs)) {
      std::vector<RunFolder>& job = jobs.emplace_back();
      for (const std::size_t index : indices) job.push_back(runs[index]);
    }
  }
  try {
    begin_again(submission.experiment(), to_begin_again);
    for (const auto& [id, steps] : to_begin_again) {
      const std::filesystem::path mark = submission.begun_again(id);
      create_writable_folder(mark.parent_path());
      write_file_atomically(mark, "");
    }
  } catch (const Error& error) {  // Another process works on a run: a batch system may try again.
    throw Error(error.what(), ErrorKind::kRuntime);
  }
  const Schedule schedule{.workers = 1};
  const int code = run_jobs(jobs, schedule, compute_program());
  return code == kExitAgain ? stop(options) : code;
}

}  // namespace

void add_task_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("task", "Work on one task of a submission (started by a batch system)");
  const auto options = set_action(*command, action, work);
  command->add_option("SUBMISSION", options->submission, "EXPERIMENT_DIR/batch/<number>/submission.json")
      ->required();
  command->add_option("NUMBER", options->number, "which task, from 0")->required();
  command->add_option("--max-restarts", options->max_restarts,
                      "after SIGUSR1 it goes back into Slurm's queue so often at most");
  command
      ->add_option("--preempted-exit", options->preempted_exit,
                   "exit with this when a signal stopped it at a checkpoint, and do not call Slurm")
      ->check(CLI::Range(0, 255));
}

}  // namespace che
