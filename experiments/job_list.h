#pragma once

#include <cstddef>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Whether what is stored of a run is undamaged and all that `config` asks for.
bool is_complete(const StoredRun& stored, const RunConfig& config);

// Throws Error (usage) unless `runs` are one or more different runs that share everything but seed
// and learning rate.
void check_is_one_job(const std::vector<RunFolder>& runs);

// Indices of `runs` grouped into jobs of at most execution.replicas runs that share everything but
// seed and learning rate; order is kept.
std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs);

}  // namespace che
