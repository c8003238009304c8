#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/schedule/submission.h"

namespace che {

// Each of these calls a command of Slurm and throws Error (runtime) when the command is not there, refuses,
// or does not answer within 15 seconds, as without its controller.

// A job, or an element of a job array, that is waiting or at work.
struct QueuedJob {
  std::int64_t id = 0;                // The job's, or the array's.
  std::optional<std::int64_t> index;  // In the array.
  std::string state;                  // squeue's word: PENDING, RUNNING, ...
  std::string reason;                 // Why it waits: Priority, Resources, ...
  std::string command;                // The path of its script, and the script's arguments.
};

// Returns this user's jobs in the queue.
std::vector<QueuedJob> queued_jobs();

// One more than the largest index of an array.
std::int64_t max_array_size();

// Calls sbatch with these arguments; returns the job's id.
std::int64_t submit_batch(const std::vector<std::string>& arguments);

// Puts one array element, "<array>_<index>", back into the queue.
void requeue(const std::string& element);

// The jobs of a submission that are in the queue. The script that a job runs tells that it is one. Ids are
// lost when the process that called sbatch is killed, and unknown where a user submits scripts by hand.
struct QueuedSubmission {
  std::map<std::int64_t, std::size_t> arrays;  // The first task of each, by id.
  std::vector<QueuedJob> elements;             // Of these arrays.
  std::set<std::size_t> tasks;                 // The tasks of these elements.
  std::int64_t summary = 0;                    // Id of the job after the arrays; 0 where it is not there.
};
QueuedSubmission find_in_queue(const Submission& submission, const std::vector<QueuedJob>& queue);

// The runs whose tasks are in the queue, by id.
std::set<std::string> runs_in_queue(const std::vector<Submission>& submissions,
                                    const std::vector<QueuedJob>& queue);

// Returns jobs without the runs that are in the queue already, by id.
std::vector<std::vector<RunFolder>> jobs_out_of_queue(const std::vector<std::vector<RunFolder>>& jobs,
                                                      const std::set<std::string>& queued);

// Names the elements of an array for sbatch: "0-11%4" for 12 elements, at most four at a time; 0 for no
// limit.
std::string array_elements(std::size_t count, std::int64_t parallel);

// Completes the submission of a process that was killed meanwhile: stores the ids of its arrays, and submits
// the job after them.
void complete_submission(Submission& submission, const std::vector<QueuedJob>& queue);

// Submits the arrays of `submission` and the job after them; stores each id as soon as it is known.
void submit_arrays(Submission& submission, const std::vector<SubmittedArray>& parts, std::int64_t parallel);

// Returns lines that say how the tasks of an experiment stand in Slurm's queue, or why that is not known.
// None where nothing was submitted.
std::vector<std::string> slurm_status(const std::filesystem::path& experiment);

}  // namespace che
