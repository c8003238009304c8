#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"

namespace che {

// The lengths first, first + step, ... up to last; or those of a list with uneven steps, whose ends are given
// too, and whose step is 0.
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
  RunTimes step;   // Of a training step, by training lengths.
  RunTimes batch;  // Of a batch of kEvaluationBatch test samples, by test lengths.
};

struct StepTimes {
  std::map<TaskLabel, TaskTimes> tasks;
  std::vector<EncodingLabel> encodings;   // Of these runs, in the order of encoding_before.
  std::vector<EncodingLabel> not_chosen;  // Of runs of which the choice leaves nothing.
  std::vector<EncodingLabel> unfinished;  // Of runs of which none is finished.
  bool has_shared_jobs = false;           // Whether jobs could hold several runs, each with the time of all.
};

// What training and evaluation of finished runs took. A run's step is the median over the rows of its metrics
// but the first, which holds the warm-up. Labels are those of label_cells, without lengths and with the
// settings of execution: runs that differ in any of it share no cell. Warns of chosen runs that are
// left out: unfinished and damaged ones, and those whose time of a test batch includes other lengths. Throws
// Error (usage) as RunChoice::of does, and when no run is finished.
StepTimes step_times(const std::vector<RunFolder>& runs, const RunChoice& choice = {},
                     const WarningSink& warn = print_warning);

}  // namespace che
