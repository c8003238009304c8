#pragma once

#include <filesystem>
#include <vector>

#include "core/error.h"
#include "experiments/results/result_table.h"
#include "experiments/store/experiment_folder.h"

namespace che {

// How the folders of a table belong together.
enum class FolderRole {
  // Experiments of one author. A run that two of them hold is read from the first one.
  kExperiments,
  // Results of several authors. A column that more than one of them has names the entry, so that repetitions
  // by others stand side by side. A folder may lack runs.
  kEntries,
};

// Reads the chosen runs of these results folders, and the scores that they quote, into one table. A folder
// that quotes scores needs no runs. Warns of damage and of runs that are left out. Warns of models outside
// che that have no run left because a condition asks for a setting that predictions do not have. Throws Error
// (usage) if no run is left, and as open_runs, RunChoice::of and make_table do.
ResultTable read_table(const std::vector<std::filesystem::path>& folders, const RunChoice& choice = {},
                       const ReadingRules& rules = {}, FolderRole role = FolderRole::kExperiments);

// Names the damaged files of runs, which `table` counts as unfinished.
void warn_of_damage(const ResultTable& table, const WarningSink& warn = print_warning);

}  // namespace che
