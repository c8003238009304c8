#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"

namespace che {

// The lengths first, first + step, ... up to last, or a list with uneven steps. A list has its ends too, and
// step 0.
struct LengthRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  std::vector<std::int64_t> listed = {};

  auto operator<=>(const LengthRange&) const = default;
};

// Milliseconds of each finished run, by column of a table and lengths.
using RunTimes = std::map<EncodingLabel, std::map<LengthRange, std::vector<double>>>;

struct TaskTimes {
  RunTimes step;   // Times of a training step, by training lengths.
  RunTimes batch;  // Times of a batch of kEvaluationBatch test samples, by test lengths.
};

struct StepTimes {
  std::map<TaskLabel, TaskTimes> tasks;
  std::vector<EncodingLabel> encodings;   // In the order of encoding_before.
  std::vector<EncodingLabel> not_chosen;  // The choice leaves none of their runs.
  std::vector<EncodingLabel> unfinished;  // None of their runs is finished.
  bool has_shared_jobs = false;           // Jobs could hold several runs, each with the time of all.
  std::set<std::string> hardware;         // Processors, and GPUs with their settings, as hardware_of() says.
  std::vector<std::string> with_earlier;  // Ids of runs with RunStatus::earlier.
};

// Collects the times of training and evaluation of finished runs. A run's step is the median over the rows of
// its metrics, without the first, which holds the warm-up. Labels are those of label_cells, without lengths
// and with the settings of execution, so that runs which differ in any of these share no cell. Warns of
// chosen runs that are left out: unfinished and damaged ones, those of models outside che, and those whose
// test batches include other lengths. Throws Error (usage) as RunChoice::of does, and when no run is finished
// or none is of che's own models.
StepTimes step_times(std::vector<RunFolder> runs, const RunChoice& choice = {},
                     const WarningSink& warn = print_warning);

}  // namespace che
