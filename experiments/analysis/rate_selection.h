#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Keeps of each cell, the runs with one task and encoding label, those of the learning rate whose mean over
// the repetitions is the highest, of equals the lowest. A cell of one rate stays as it is. Returns a sentence
// that names the rule and the rates. Throws Error (usage) for a run that is not finished or lacks what the
// rule reads.
std::string select_rates(std::vector<TableRun>& runs, SelectionRule rule);

}  // namespace che
