#pragma once

#include <vector>

#include "experiments/store/run_folder.h"

namespace che {

// The finished runs next to `run`, stored or not, that are equal to it but for fewer training steps, and that
// still have a checkpoint; the longest first. The step number is all that a step knows of where it stands
// (batches, dropout and a warm-up depend on nothing else), so that `run` passes through their parameters, bit
// for bit, and can begin with them. A run that has passed one of the steps that `run` wants evaluated,
// without rows for it, is left out. Their folders are only read.
std::vector<RunFolder> shorter_runs(const RunFolder& run);

}  // namespace che
