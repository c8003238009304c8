#pragma once

#include <vector>

#include "experiments/store/run_folder.h"

namespace che {

// Throws Error (usage) where runs have other versions of a task than others: the samples of two versions
// differ, so that their scores are not of one thing.
void check_task_versions(const std::vector<const RunFolder*>& runs);

}  // namespace che
