#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// Text that runs which may train in lock-step have in common: everything but seed and learning rate.
std::string job_key(RunConfig config);

// Whether two runs may train in lock-step: they share everything but seed and learning rate.
bool share_a_job(const RunConfig& one, const RunConfig& other);

// Indices of `runs` grouped into jobs of at most execution.replicas runs that share everything but
// seed and learning rate; order is kept. Where nobody has chosen replicas (kAutoReplicas) a run is a job.
std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs);

}  // namespace che
