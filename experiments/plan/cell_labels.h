#pragma once

#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"

namespace che {

// The cells of some configs, in their order: task and encoding, with every setting of `roles` in which the
// configs differ, so that two cells never look alike.
struct CellLabels {
  std::vector<CellKey> of;
  std::vector<SettingValue>
      shared_settings;  // That differ from the defaults in every config and are in no label.
};
CellLabels label_cells(const std::vector<RunConfig>& configs,
                       const std::vector<Role>& roles = {Role::kCell, Role::kEvaluation});

}  // namespace che
