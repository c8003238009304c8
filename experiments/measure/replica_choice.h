#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"

namespace che {

// Nominal operations of a step that keeps a GPU busy. More runs in lock-step would make it longer by their
// whole work.
inline constexpr double kFullOperations = 1e12;

// Returns the bytes of device memory that one more run in lock-step takes. They are parameters, gradients,
// Adam's moments, and the peak of a training step at the longest sequence. The peak is scaled from steps of a
// few examples to the batch.
double bytes_of_a_run(const RunConfig& config, const Backend& backend);

// Returns how many runs like `config` may train in lock-step on a GPU. They are as many as `bytes` of memory
// hold, but no more than make a step of kFullOperations, and at least 1.
std::int64_t most_replicas(const RunConfig& config, const Backend& backend, double bytes);

// Does so for the device that the config asks for, and returns 1 for a CPU. Each worker of a GPU, of
// `workers` on all of them (0 for the default), has a part of its free memory.
std::int64_t most_replicas(const RunConfig& config, std::int64_t workers);

// Sets execution.replicas of each run that has kAutoReplicas. Run i gets `most[i]`, or less if the group of
// runs that may train together needs no more jobs for it. These are ceil(runs / most[i]). `most` is equal
// within a group; 0 leaves kAutoReplicas.
void share_out_replicas(std::vector<RunConfig>& runs, const std::vector<std::int64_t>& most);

// Returns the most replicas of each of these configs.
using MeasureReplicas = std::function<std::vector<std::int64_t>(const std::vector<RunConfig>&)>;

// Does so by what the devices of this machine hold, which `measure` tells. A run whose device is not here
// keeps kAutoReplicas.
void choose_replicas(std::vector<RunConfig>& runs, const MeasureReplicas& measure);

}  // namespace che
