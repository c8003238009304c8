#pragma once

#include <string>

#include "experiments/schedule/status.h"
#include "tables/formats/table.h"

namespace che {

// One row per run that can be opened, with its state, steps and test lengths. `name` is the experiment's.
Table status_table(const ExperimentStatus& status, const std::string& name);

}  // namespace che
