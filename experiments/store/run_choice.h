#pragma once

#include <string>
#include <vector>

#include "experiments/plan/run_filter.h"
#include "experiments/store/run_folder.h"

namespace che {

// Which stored runs a command reads: those that hold every condition, "key=value" as `che run --only` takes
// it. Stored runs know no labels of variants; a condition names the settings instead.
class RunChoice {
 public:
  RunChoice() = default;  // All runs.
  // Throws Error (usage) for what is no condition.
  explicit RunChoice(const std::vector<std::string>& conditions);

  // The runs that hold all conditions, in their order. Throws Error (usage) when no run is left, and for a
  // misspelt key or value.
  std::vector<RunFolder> of(std::vector<RunFolder> runs, const WarningSink& warn = print_warning) const;

  // As they were given.
  const std::vector<std::string>& conditions() const { return conditions_; }

 private:
  std::vector<std::string> conditions_;
  std::vector<RunFilter> filters_;
};

}  // namespace che
