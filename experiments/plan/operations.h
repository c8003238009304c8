#pragma once

#include <cstdint>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// Floating point operations, nominal (nothing trimmed), as the entry of the model counts them.
struct Operations {
  double training = 0;
  double evaluation = 0;

  double all() const { return training + evaluation; }
};

// Operations of one training step: three forward passes of its batch, at the mean over the training lengths.
double training_step_operations(const RunConfig& config);

// Operations of an evaluation at `lengths`.
double evaluation_operations(const RunConfig& config, const std::vector<std::int64_t>& lengths);

// Operations of a run from its start to its last test length.
Operations run_operations(const RunConfig& config);

}  // namespace che
