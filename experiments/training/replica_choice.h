#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"

namespace che {

// Nominal operations of a step that keeps a GPU busy: more runs in lock-step would make it longer by their
// whole work.
inline constexpr double kFullOperations = 1e12;

// Bytes of device memory that one more run in lock-step takes: parameters, gradients, Adam's moments, and
// what a training step at the longest sequence holds at its peak, scaled from steps of a few examples to the
// batch.
double bytes_of_a_run(const RunConfig& config, const Backend& backend);

// How many runs like `config` may train in lock-step on a GPU: as many as `bytes` of memory hold, but no more
// than make a step of kFullOperations, and at least 1.
std::int64_t most_replicas(const RunConfig& config, const Backend& backend, double bytes);

// The same on the device that the config asks for, of whose free memory each of `workers` workers of a GPU
// has a part; 1 on a CPU.
std::int64_t most_replicas(const RunConfig& config, std::int64_t workers);

// Chooses execution.replicas of the runs that have kAutoReplicas: as many as `most` allows of a run, and
// fewer where the group needs no more jobs for it: ceil(runs / jobs). A run whose device is not here keeps
// kAutoReplicas.
void choose_replicas(std::vector<RunConfig>& runs, const std::function<bool(const RunConfig&)>& has_device,
                     const std::function<std::int64_t(const RunConfig&)>& most);

// With `asked` workers, 0 for the default, on the devices of this machine.
void choose_replicas(std::vector<RunConfig>& runs, std::int64_t asked = 0);

}  // namespace che
