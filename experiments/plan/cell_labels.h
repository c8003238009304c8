#pragma once

#include <map>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"

namespace che {

// The cells of some configs, in their order: task and encoding, with every setting of `roles` in which the
// configs of one task differ, so that two cells never look alike. A setting that all configs of each task
// share splits no column; it belongs to the row. evaluation.seed belongs to the repetition, as the other
// seeds do.
struct CellLabels {
  std::vector<CellKey> of;
  // Settings off their default that all configs of a task have, are in no label and are not shared by all.
  std::map<TaskLabel, std::vector<SettingValue>> of_task;
  std::vector<SettingValue>
      shared_settings;  // That differ from the defaults in every config and are in no label.
};
CellLabels label_cells(const std::vector<RunConfig>& configs,
                       const std::vector<Role>& roles = {Role::kCell, Role::kEvaluation});

}  // namespace che
