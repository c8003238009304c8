#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/store/run_folder.h"

namespace che {

// The state of an experiment by its files and locks.
struct ExperimentStatus {
  std::size_t runs = 0;
  std::map<RunState, std::size_t> by_state;  // Of the runs that are not damaged; see ObservedRun.
  std::size_t damaged = 0;
  std::size_t left_out = 0;  // Runs in folders that are misnamed or that the system does not let us read.
  std::vector<std::string> lines;  // About each run that is neither finished nor waiting.
  // At the speed of all runs so far, with as many at work as now. 0 while none is at work or no speed is
  // known.
  double seconds_left = 0;

  bool is_worked_on = false;  // By a `che run`, which may be between two jobs, or by a worker.
};

ExperimentStatus experiment_status(const std::filesystem::path& experiment);

// For people: a line with the counts, then the lines about runs.
std::string describe(const ExperimentStatus& status);

}  // namespace che
