#pragma once

#include <string>

#include "experiments/plan/run_config.h"

namespace che {

// The same evaluation in the only way of writing that all evaluations at these test lengths share: the last
// length is one that is measured, a single length has step 1, and a list with even steps is a range. 17..80
// in steps of 30 and [17, 47, 77] become 17..77.
EvaluationConfig with_exact_lengths(EvaluationConfig evaluation);

// "17..77 in steps of 30", "50, 100, 200, 400".
std::string lengths_text(const EvaluationConfig& evaluation);

// Whether a run is tested at a length that is not beyond those that it is trained on.
bool is_tested_within_training(const RunConfig& config);

}  // namespace che
