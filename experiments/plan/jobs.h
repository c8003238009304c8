#pragma once

#include <cstddef>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// Whether two runs may train in lock-step: they share everything but seed and learning rate.
bool share_a_job(const RunConfig& one, const RunConfig& other);

// Indices of `runs` grouped into jobs of at most execution.replicas runs that share everything but
// seed and learning rate; order is kept.
std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs);

}  // namespace che
