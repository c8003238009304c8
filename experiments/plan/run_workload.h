#pragma once

#include <memory>

#include "experiments/plan/run_config.h"
#include "workloads/workload.h"

namespace che {

// The workload of a run: the only place that knows which kinds of workloads a config can name.
std::unique_ptr<Workload> create_workload(const RunConfig& config);

}  // namespace che
