#pragma once

#include "experiments/config.h"

namespace che {

// Floating point operations of one training step, nominal: 3 B N (24 T d^2 + 4 T^2 d), plus
// 6 T^2 h D a layer with DAPE (times three with DAPE V2), at the mean of T over the training
// lengths; and of the whole evaluation, a third of that an example.
double training_step_operations(const RunConfig& config);
double evaluation_operations(const RunConfig& config);

// Of a run from its start to its last test length.
double run_operations(const RunConfig& config);

}  // namespace che
