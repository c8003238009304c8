#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "experiments/cluster/slurm.h"
#include "experiments/cluster/submission.h"

namespace che {

// The runs whose tasks are among `queued`, by id.
std::set<std::string> runs_in_queue(const std::vector<Submission>& submissions,
                                    const std::vector<QueuedTask>& queued);

// For people, a line each: how the tasks of an experiment stand in Slurm's queue, or why that is not known.
// Nothing where none was submitted. Throws Error as read_submissions does.
std::vector<std::string> slurm_status(const std::filesystem::path& experiment);

}  // namespace che
