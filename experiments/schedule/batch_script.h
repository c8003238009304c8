#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/schedule/submission.h"

namespace che {

// What a sweep's tasks ask of Slurm. Texts are as sbatch takes them; empty ones are left to the site.
struct BatchOptions {
  std::string partition = {};
  std::string time = {};    // Of one task.
  std::string memory = {};  // Of one task.
  std::string gpus = {};    // Of one task.
  std::int64_t cores = 1;
  std::vector<std::string> others = {};    // Further options, such as --account=NAME.
  std::int64_t warning_seconds = 120;      // How long before the time limit a task is told to stop.
  std::int64_t max_restarts = 20;          // How often a task puts itself back into the queue.
  std::optional<int> preempted_exit = {};  // A task that stops at a checkpoint exits with it, and does not.
};

// Throws Error for a time, a memory or GPUs that sbatch does not read, and for a time limit that ends before
// its warning.
void check_batch_options(const BatchOptions& options);

// Bash scripts for sbatch. `program` is che. Throw Error (usage) for a text that sbatch would not read as one
// option.
//
// Of one array: its argument is the number of the task that element 0 works on. The program replaces the
// shell, so that Slurm's signals reach it.
std::string array_script(const Submission& submission, const std::string& name,
                         const std::filesystem::path& program, const BatchOptions& options);
// Of the job after the arrays: table and report.
std::string summary_script(const Submission& submission, const std::string& name,
                           const std::filesystem::path& program, const BatchOptions& options);

}  // namespace che
