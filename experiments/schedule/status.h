#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/store/experiment_folder.h"
#include "experiments/store/needs.h"
#include "experiments/store/run_folder.h"

namespace che {

// A run as its files and its lock show it at this moment. `che run --list`, `che status` and `che evaluate`
// name its state by this.
struct ObservedRun {
  StoredRun stored;
  RunNeeds needs;
  // As stored, but: a finished run that lacks test lengths is waiting; one that was begun and that no process
  // works on is interrupted; one that a process has only just taken up is training.
  RunState state = RunState::kWaiting;
  bool is_at_work = false;    // Whether some process works on it.
  double silent_seconds = 0;  // Since its status was written.

  // The state's word, or "damaged".
  std::string state_text() const;
};

ObservedRun observe(const RunFolder& folder);

// One run at this moment.
struct RunProgress {
  std::string id;
  std::string task;  // As tables label it.
  std::string encoding;
  std::int64_t seed = 0;
  std::int64_t data_seed = 0;
  double learning_rate = 0;
  std::string state;  // As ObservedRun::state_text says.
  std::int64_t step = 0;
  std::int64_t steps = 0;    // Asked for.
  std::size_t measured = 0;  // Test lengths,
  std::size_t lengths = 0;   // and those asked for.
  std::string detail;        // What there is to say of a run that is neither finished nor waiting.
};

// The state of an experiment by its files and locks.
struct ExperimentStatus {
  std::size_t runs = 0;
  std::map<RunState, std::size_t> by_state;  // Of the runs that are not damaged; see ObservedRun.
  std::size_t damaged = 0;
  std::size_t left_out = 0;  // Runs in folders that are misnamed or that the system does not let us read.
  std::vector<RunProgress> progress;  // Of the runs that can be opened, by id.
  std::vector<std::string> lines;     // About each run that is neither finished nor waiting.
  // At the speed of all runs so far, with as many at work as now. 0 while none is at work or no speed is
  // known.
  double seconds_left = 0;

  bool is_worked_on = false;  // By a `che run`, which may be between two jobs, or by a worker.
};

// Of the chosen runs only; folders that cannot be opened are always counted. Throws as find_runs and
// RunChoice::of do.
ExperimentStatus experiment_status(const std::filesystem::path& experiment, const RunChoice& choice = {});

// For people: a line with the counts, then the lines about runs.
std::string describe(const ExperimentStatus& status);

}  // namespace che
