#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/worker_process.h"
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

  // "total: 3/12 jobs (1 failed), 41 %, 12 to 15 min left", `seconds` after the start. A job's time is that
  // of TimeLeft, as in its own line, over training and evaluation in nominal operations; one that has not
  // begun may be as slow or as fast as any that has.
  std::string describe(double seconds) const;

 private:
  struct Job {
    Operations left;                         // When the call began.
    std::optional<std::int64_t> first_step;  // Steps made by then; nothing where the status is damaged.
    double done = 0;                         // Operations.
    bool ended = false;
    std::optional<TimeLeft> clock;  // Of `left`; nothing before the first report.
  };

  std::optional<TimeRange> time_left(double seconds) const;

  std::map<std::string, Job> jobs_;  // By the first run's id.
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace che
