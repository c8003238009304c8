#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/plan/run_config.h"
#include "experiments/schedule/submission.h"

namespace che {

// The resources of a sweep's tasks. Texts are in the form that sbatch reads; the site decides on empty ones.
// Time, memory, GPUs and cores are those of one task.
struct BatchOptions {
  std::string partition = {};
  std::string time = {};
  std::string memory = {};
  std::string gpus = {};
  std::int64_t cores = 1;
  std::vector<std::string> others = {};    // Further options, such as --account=NAME.
  std::int64_t warning_seconds = 120;      // How long before the time limit a task is told to stop.
  std::int64_t max_restarts = 20;          // How often a task puts itself back into the queue.
  std::optional<int> preempted_exit = {};  // A task that stops at a checkpoint exits with it, and does not.
};

// Throws Error for a time, a memory or GPUs that sbatch does not read, and for a time limit that ends before
// its warning.
void check_batch_options(const BatchOptions& options);

// Throws Error (usage) for a folder in or below which sbatch can write no logs.
void check_log_folder(const std::filesystem::path& path);

// Returns the memory to ask for if a job needs so many bytes: a quarter more, in steps of 100 MiB, as "700M".
std::string memory_request(double bytes);

// Warns where tasks, each with its runs, take longer than the time limit and its restarts allow, or only
// seconds, at a nominal speed of a core. Warns of GPUs that the config does not ask for, and of a config
// whose GPUs nobody asks for.
void warn_of_unfitting_options(const BatchOptions& options, const std::vector<std::vector<RunConfig>>& tasks,
                               const WarningSink& warn);

// Returns the Bash script of a job array, for sbatch. Its argument is the number of the task that element 0
// works on. `program` is che, which replaces the shell so that Slurm's signals reach it. Throws Error (usage)
// for a text that sbatch would not read as one option.
std::string array_script(const Submission& submission, const std::string& name,
                         const std::filesystem::path& program, const BatchOptions& options);
// Returns the script of the job after the arrays, which makes table and report. Throws likewise.
std::string summary_script(const Submission& submission, const std::string& name,
                           const std::filesystem::path& program, const BatchOptions& options);

}  // namespace che
