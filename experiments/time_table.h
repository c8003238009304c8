#pragma once

#include <string>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Markdown: for each task, a row an encoding and a column a training length, milliseconds a training step and
// a batch of kEvaluationBatch test samples, each followed by its ratio to the encoding labelled `base`. A
// run's step is the median over the rows of its metrics but the first, which holds the warm-up; a cell the
// median of its finished runs. Labels are those of label_cells, but for the lengths: runs that differ in
// anything else share no cell. Warns of runs that are left out: unfinished and damaged ones, and of those
// whose time of a test batch is that of other lengths, too. Throws Error (usage) when no finished run has the
// label `base`.
std::string time_table(const std::vector<RunFolder>& runs, const std::string& base,
                       const WarningSink& warn = print_warning);

}  // namespace che
