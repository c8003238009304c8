#pragma once

#include <string>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// Markdown: for each task, a row an encoding, milliseconds a training step by training lengths and a batch of
// kEvaluationBatch test samples by test lengths, each followed by its ratio to the encoding labelled `base`.
// A run's step is the median over the rows of its metrics but the first, which holds the warm-up; a cell the
// median of its finished runs. Labels are those of label_cells, without lengths and with the settings of
// execution but log_steps: runs that differ in any of it share no cell. Runs of one job all have the time of
// the whole job, which holds at most `execution.replicas` of them. Warns of runs that are
// left out: unfinished and damaged ones, and of those whose time of a test batch is that of other lengths,
// too. Throws Error (usage) when no finished run has the label `base`.
std::string time_table(const std::vector<RunFolder>& runs, const std::string& base,
                       const WarningSink& warn = print_warning);

}  // namespace che
