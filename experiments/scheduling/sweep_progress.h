#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/scheduling/progress.h"
#include "experiments/scheduling/worker_task.h"
#include "experiments/store/run_folder.h"

namespace che {

// How far one call's jobs are, of what it found left to do in nominal operations, and how long they will
// take.
class SweepProgress {
 public:
  // With a request its jobs evaluate stored models alone.
  SweepProgress(const std::vector<std::vector<RunFolder>>& jobs,
                const std::optional<EvaluationRequest>& evaluation);

  // A worker's report, `seconds` after the start of the call.
  void update(const Progress& progress, double seconds);
  void finish(const std::string& job, bool failed);

  // "total: 3/12 jobs (1 failed), 41 %, 12 to 15 min left", `seconds` after the start. The range is that of
  // the speeds of the jobs so far, in nominal operations.
  std::string describe(double seconds) const;

 private:
  struct Job {
    Operations left;                         // When the call began.
    std::optional<std::int64_t> first_step;  // Steps made by then; nothing where the status is damaged.
    double done = 0;                         // Operations.
    bool ended = false;
    // At the first report, whose speed is that of the start of a process, and at the last.
    std::optional<double> first_seconds;
    double first_done = 0;
    double last_seconds = 0;

    // Operations per second; nothing before the second report.
    std::optional<double> speed() const;
  };

  std::optional<TimeRange> time_left(double seconds) const;

  std::map<std::string, Job> jobs_;  // By the first run's id.
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace che
