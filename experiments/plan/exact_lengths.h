#pragma once

#include "experiments/plan/run_config.h"

namespace che {

// The same evaluation in the only way of writing that all evaluations at these test lengths share: the last
// length is one that is measured, and a single length has step 1. 17..80 in steps of 30 become 17..77.
EvaluationConfig with_exact_lengths(EvaluationConfig evaluation);

}  // namespace che
