#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/schedule/time_left.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/needs.h"
#include "experiments/store/run_folder.h"

namespace che {

// A run as its files and its lock show it now. `che run --list` and `che status` name its state by
// this.
struct ObservedRun {
  StoredRun stored;
  RunNeeds needs;
  // The stored state with three exceptions. A finished run that lacks test lengths is waiting. A run that was
  // begun and that no process works on is interrupted. A run that a process has just started is training.
  RunState state = RunState::kWaiting;
  bool is_at_work = false;    // Whether some process works on it.
  double silent_seconds = 0;  // Since its status was written.

  // The state's word, or "damaged".
  std::string state_text() const;
};

ObservedRun observe(const RunFolder& folder);

// A row of `che status --runs`.
struct RunProgress {
  std::string id;
  std::string task;  // The label that tables use.
  std::string encoding;
  std::int64_t seed = 0;
  std::string state;  // See ObservedRun::state_text.
  // These are empty for a model that was trained outside che.
  std::optional<std::int64_t> data_seed = {};
  std::optional<double> learning_rate = {};
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> steps = {};  // The number that the config wants.

  std::size_t measured = 0;  // Test lengths that are measured,
  std::size_t lengths = 0;   // of those that the config wants.
  std::string detail;        // Empty for a run that is waiting, or finished without having diverged.
};

// The state of an experiment by its files and locks.
struct ExperimentStatus {
  std::size_t runs = 0;
  std::map<RunState, std::size_t> by_state;  // Damaged runs are not counted here; see ObservedRun.
  std::size_t damaged = 0;
  std::size_t left_out = 0;           // Runs in folders that are misnamed or that we may not read.
  std::vector<RunProgress> progress;  // The runs that can be opened, by id.
  // The problem of each folder that cannot be opened, and what to do about it.
  std::vector<std::pair<std::string, std::string>> unopened;
  std::vector<std::string> lines;  // About each run that is neither finished nor waiting.
  // At the mean speed of all runs so far, with as many at work as now. Nothing while none is at work or no
  // speed is known.
  std::optional<double> time_left;  // In seconds.

  bool is_worked_on = false;  // By a worker, or by a `che run` that may be between two jobs.
};

// Looks at the chosen runs, and always counts the folders that cannot be opened. Throws as find_runs and
// RunChoice::of do.
ExperimentStatus experiment_status(const std::filesystem::path& experiment, const RunChoice& choice = {});

// A line with the counts, then the lines about runs.
std::string describe(const ExperimentStatus& status);

}  // namespace che
