#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/operations.h"
#include "experiments/progress.h"
#include "experiments/scheduler.h"

namespace che {

// How far one call's jobs are, of what it found left to do in nominal operations, and how long they will
// take.
class SweepProgress {
 public:
  // With a request its jobs evaluate stored models alone.
  SweepProgress(const std::vector<std::vector<RunFolder>>& jobs,
                const std::optional<EvaluationRequest>& evaluation);

  void update(const Progress& progress);
  void finish(const std::string& job, bool failed);

  // "all: 3 of 12 jobs ended (1 failed), 41 %, about 12 min left", for `seconds` since the start.
  std::string describe(double seconds) const;

 private:
  struct Job {
    Operations left;                         // When the call began.
    std::optional<std::int64_t> first_step;  // Steps made by then; nothing where a damaged status tells none.
    double done = 0;                         // Operations.
    bool ended = false;
  };

  std::map<std::string, Job> jobs_;  // By the first run's id.
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace che
