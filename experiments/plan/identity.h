#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/plan/run_config.h"

namespace che {

// The fields of `roles` that are off their default, sorted, one "path=value" per line. Ids hash this text
// with Field::hashed_name in the paths. Where a default has changed, the default is the one that runs were
// first stored under (EncodingEntry::identity_defaults).
std::string identity_text(const RunConfig& config, const std::vector<Role>& roles);

// The run's column in tables, with the kind of model before it where that is neither the default nor the
// column: "dape_kerple", "decoder-dape_kerple".
std::string model_name(const RunConfig& config);

// Readable name and hash of the fields that determine the trained parameters:
// "reverse_string-dape_kerple-lr0.0003-seed0-1f2e3d4c5b6a", or "reverse_string-lstm-seed0-6a5b4c3d2e1f" for a
// model outside che. Only letters, digits, '.', '_', '-'.
std::string run_id(const RunConfig& config);

// Identity without seeds and learning rate: runs with equal cells share a place in a table.
std::string cell_id(const RunConfig& config);

// The places of some configs in a table, in the order of the configs. A place is a row, the task, and a
// column, the encoding with every setting of `roles` in which the configs of one task differ. So two cells
// never look alike. A setting that all configs of a task share is in no column. Seeds are in no place,
// evaluation.seed included, because runs that differ in them repeat one cell.
struct CellLabels {
  std::vector<CellKey> of;
  // Settings off their default that all configs of a task have, are in no label and are not shared by all.
  std::map<TaskLabel, std::vector<SettingValue>> of_task;
  // Settings that differ from the defaults in every config and are in no label.
  std::vector<SettingValue> shared_settings;
};
CellLabels label_cells(const std::vector<RunConfig>& configs,
                       const std::vector<Role>& roles = {Role::kCell, Role::kEvaluation});

// Tells what a name of somebody's own stands for in a run: "definition fbce0cdf" of a declared task, "corpus
// 5a8e82007660bccb" of a text; empty for a task of the benchmark.
std::string own_content(const RunConfig& config);

// Text that runs which may train in lock-step have in common: everything but seed and learning rate.
std::string job_key(RunConfig config);

// Whether two runs may train in lock-step: they share everything but seed and learning rate.
bool share_a_job(const RunConfig& one, const RunConfig& other);

// Indices of `runs` grouped into jobs of at most execution.replicas runs that may train in lock-step; order
// is kept. Where nobody has chosen replicas (kAutoReplicas) a run is a job.
std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs);

}  // namespace che
