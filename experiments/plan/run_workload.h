#pragma once

#include <cstdint>
#include <memory>

#include "core/random.h"
#include "experiments/plan/run_config.h"
#include "models/settings/positions.h"
#include "workloads/workload.h"

namespace che {

// Makes the workload of a run: a task's, or a text's where RunConfig::has_text().
std::unique_ptr<Workload> create_workload(const RunConfig& config);

// Throws Error (usage) where the text of a run does not have the windows of its evaluation.
void check_windows(const RunConfig& run);

// The group of tables that its rows stand in.
Level level_of(const RunConfig& config);

// Returns the positions of one forward pass; those of an evaluation are contiguous where training has
// equal_mean. If they are random, `seed` (data or evaluation seed, keyed by the task inside), `step` (or
// length) and `batch` select the draw.
Positions create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose, std::uint64_t step,
                           std::uint64_t batch = 0);

}  // namespace che
