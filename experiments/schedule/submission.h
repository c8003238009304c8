#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/store/run_folder.h"

namespace che {

// Steps of evaluation.at_steps that runs have passed without being measured there, by run id.
using PassedSteps = std::map<std::string, std::vector<std::int64_t>>;

// A job array that was handed to the batch system.
struct SubmittedArray {
  std::int64_t job = 0;   // Its id; 0 as long as it is not known.
  std::size_t first = 0;  // Number of the submission's task that element 0 works on.
  std::size_t count = 0;  // Elements.
};

// Work that was handed to a batch system at once: tasks, each of which works on some jobs in turn. A job is
// the runs that train in lock-step.
struct Submission {
  std::filesystem::path folder;                              // EXPERIMENT_DIR/batch/<number>
  std::vector<std::vector<std::vector<std::string>>> tasks;  // Run ids, by task and job.
  std::vector<SubmittedArray> arrays;
  std::int64_t summary = 0;      // Id of the job that makes table and report at the end; 0 for none.
  PassedSteps begin_again = {};  // --retrain trains these runs anew.

  std::filesystem::path experiment() const { return folder.parent_path().parent_path(); }
  std::filesystem::path file() const;
  std::filesystem::path logs() const { return folder / "logs"; }
  std::filesystem::path array_script() const { return folder / "array.sbatch"; }
  // A file that is there once a task has set the run back, as `begin_again` asks: started again, the task
  // finishes the run and does not train it anew.
  std::filesystem::path begun_again(const std::string& run) const;
  std::filesystem::path summary_script() const { return folder / "summary.sbatch"; }
  // Writes its file. Throws Error (runtime) when the disk refuses.
  void store() const;
};

// A new submission of `jobs`, `jobs_per_task` in each task, with a folder of its own below `experiment`,
// which the caller has locked; logs/ is in it. The runs of `begin_again`, some of them, are trained anew. The
// folder appears whole or not at all. The newest one is used again where nothing of it was handed to the
// batch system and its tasks are the same. Throws Error (runtime)
// when the disk refuses.
Submission create_submission(const std::filesystem::path& experiment,
                             const std::vector<std::vector<RunFolder>>& jobs, std::size_t jobs_per_task,
                             const PassedSteps& begin_again = {});

// Reads a submission's file. Throws Error (usage) that names file and member when it is damaged, and as
// read_file does.
Submission read_submission(const std::filesystem::path& file);

// Returns the submissions of an experiment, the oldest first, and warns of those whose file is damaged or
// missing. Throws Error (runtime) when the system does not let us read the folder.
std::vector<Submission> read_submissions(const std::filesystem::path& experiment,
                                         const WarningSink& warn = print_warning);

}  // namespace che
