#pragma once

#include "experiments/plan/run_config.h"

namespace che {

// The same evaluation in the only way of writing that all evaluations at these test lengths share: the last
// length is one that is measured, and a single length has step 1. 17..80 in steps of 30 become 17..77.
EvaluationConfig with_exact_lengths(EvaluationConfig evaluation);

// Whether a run is tested at a length that is not beyond those that it is trained on.
bool is_tested_within_training(const RunConfig& config);

}  // namespace che
