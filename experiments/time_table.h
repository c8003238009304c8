#pragma once

#include <string>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Markdown: for each task, a row an encoding and a column a training length, milliseconds a training step and
// a batch of kEvaluationBatch test samples, each followed by its ratio to the encoding labelled `base`. A
// run's step is the median over the rows of its metrics but the first, which holds the warm-up; a cell the
// median of its finished runs. Throws Error (usage) when no finished run has the label `base`.
std::string time_table(const std::vector<RunFolder>& runs, const std::string& base);

}  // namespace che
