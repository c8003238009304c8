#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results_store.h"

namespace che {

// How an experiment stands, told from its files and their locks alone.
struct ExperimentStatus {
  std::size_t runs = 0;
  std::size_t finished = 0;  // With every test length its config asks for.
  std::size_t running = 0;
  std::size_t stopped = 0;  // Begun, and nobody works on it: `che run` resumes it.
  std::size_t failed = 0;
  std::size_t waiting = 0;
  std::size_t damaged = 0;
  std::vector<std::string> lines;  // About each run that runs, stopped, failed or is damaged.
  // At the speed of all runs so far, with as many at work as now. 0 while none is at work or no speed is
  // known.
  double seconds_left = 0;

  bool is_worked_on = false;  // By a `che run`, say, which may be between two jobs; or a run runs.
};

ExperimentStatus experiment_status(const std::filesystem::path& experiment);

// For people: a line with the counts, then the lines about runs.
std::string describe(const ExperimentStatus& status);

}  // namespace che
