#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/cluster/slurm.h"
#include "experiments/cluster/submission.h"

namespace che {

// What of a submission is in the queue. Jobs are known by the script that they run, not by their ids: these
// are lost when the process that called sbatch is killed, and are none of ours where scripts are submitted by
// hand.
struct QueuedSubmission {
  std::map<std::int64_t, std::size_t> arrays;  // The first task of each, by id.
  std::vector<QueuedJob> elements;             // Of the arrays.
  std::set<std::size_t> tasks;                 // Of the elements.
  std::int64_t summary = 0;                    // Id of the job after the arrays; 0 where it is not there.
};
QueuedSubmission find_in_queue(const Submission& submission, const std::vector<QueuedJob>& queue);

// The runs whose tasks are in the queue, by id.
std::set<std::string> runs_in_queue(const std::vector<Submission>& submissions,
                                    const std::vector<QueuedJob>& queue);

// For people, a line each: how the tasks of an experiment stand in Slurm's queue, or why that is not known.
// Nothing where none was submitted. Throws Error as read_submissions does.
std::vector<std::string> slurm_status(const std::filesystem::path& experiment);

}  // namespace che
