#pragma once

#include <cstddef>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Whether a run's stored results are undamaged and all that its config asks for.
bool is_complete(const RunFolder& run);

// Throws Error (usage) unless `runs` are one or more different runs that share everything but seed
// and learning rate.
void check_is_one_job(const std::vector<RunFolder>& runs);

// Indices of `runs` grouped into jobs of at most execution.replicas runs that share everything but
// seed and learning rate; order is kept.
std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs);

}  // namespace che
