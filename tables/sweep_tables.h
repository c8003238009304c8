#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"
#include "experiments/schedule/status.h"
#include "tables/formats/table.h"

namespace che {

// How many runs of a config are in each cell: one row per task, one column per encoding, in the order of
// tables of results. Many columns stand as rows instead.
class RunGrid {
 public:
  explicit RunGrid(const std::vector<RunConfig>& runs);

  std::size_t cells() const { return counts_.size(); }
  Table table() const;

 private:
  std::map<CellKey, std::size_t> counts_;
  std::vector<TaskLabel> tasks_;
  std::vector<EncodingLabel> encodings_;
};

// One row per run that can be opened, with its state, steps and test lengths. `name` is the experiment's.
Table status_table(const ExperimentStatus& status, const std::string& name);

}  // namespace che
