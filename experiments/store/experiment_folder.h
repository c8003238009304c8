#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/plan/run_filter.h"
#include "experiments/store/run_folder.h"

namespace che {

// The runs in a results folder.
struct ExperimentRuns {
  std::vector<RunFolder> runs;         // Sorted by id.
  std::vector<InspectedRun> left_out;  // Folders that cannot be opened, sorted by name.
};

// Every run below `experiment`/runs. Folders that hold at most a lock and temporary files, which an
// interrupted start leaves, are no runs. Throws Error when there is no such folder or no run in it (usage),
// or when the system does not let us read it (runtime).
ExperimentRuns find_runs(const std::filesystem::path& experiment);

// Returns the runs that can be opened, warns of the others, and says in a line each in `left_out` why they
// were left out. Throws Error as find_runs does, and when no run is left: (runtime) if the system does not
// let us read one of them, else (usage).
std::vector<RunFolder> open_runs(const std::filesystem::path& experiment,
                                 const WarningSink& warn = print_warning,
                                 std::vector<std::string>* left_out = nullptr);

// Which stored runs a command reads: those that hold its conditions, as `che run` takes them. Stored runs
// know no labels of variants; a condition names the settings instead.
class RunChoice {
 public:
  RunChoice() = default;  // All runs.
  // Throws Error (usage) for what is no condition.
  explicit RunChoice(RunConditions conditions);

  // The runs that hold all conditions, in their order. Throws Error (usage) when no run is left, and for a
  // misspelt key or value.
  std::vector<RunFolder> of(std::vector<RunFolder> runs, const WarningSink& warn = print_warning) const;

  // Returns the conditions as they were given.
  const RunConditions& conditions() const { return conditions_; }

 private:
  RunConditions conditions_;
  std::vector<RunFilter> filters_;
};

}  // namespace che
