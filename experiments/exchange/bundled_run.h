#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "experiments/store/run_rows.h"
#include "experiments/store/run_status.h"

namespace che {

// A run in a bundle.
struct BundledRun {
  std::string id;
  RunConfig config;
  RunStatus status;
  std::vector<EvaluationRow> evaluation;
  StepRows at_steps;
  std::vector<MetricsRow> metrics;
  // Rows of a model outside che that cannot be scored again.
  std::size_t rows_without_predictions = 0;
  // Rows that RetrainingChoice leaves out, as the config does not ask for them.
  std::size_t further_rows = 0;
};

// The files of a run that are in a bundle, by name.
using RunTexts = std::map<std::string, std::string>;

// Whether a run's file of this name is in a bundle.
bool is_bundled(std::string_view name);

// Adds a run's file. Throws Error (usage) where they are too many bytes for a run of a bundle.
void add_run_text(RunTexts& texts, const std::string& name, std::string text, const std::string& place);

// Reads these files of a run's folder. Throws Error as read_file does, also for a file that is too long for a
// bundle.
RunTexts read_run_texts(const std::filesystem::path& run);

// Parses the files of run `id` as a results folder's. Throws Error (usage) that names a file below `place`
// for what che does not write. `scored_symbols` counts on over the runs of a bundle; see
// check_kept_predictions.
BundledRun parse_bundled_run(const std::string& id, const RunTexts& texts, const std::string& place,
                             double& scored_symbols);

}  // namespace che
