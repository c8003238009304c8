#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/submission.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/store/run_folder.h"

namespace che {

// How far the jobs of one call are and how long they will take, measured in nominal operations.
class SweepProgress {
 public:
  // With a request the jobs only evaluate stored models. Runs `to_begin_again` have all their steps ahead.
  SweepProgress(const std::vector<std::vector<RunFolder>>& jobs,
                const std::optional<EvaluationRequest>& evaluation, const PassedSteps& to_begin_again = {});

  // Takes in a worker's report, `seconds` after the start of the call.
  void update(const Progress& progress, double seconds);
  void finish(const std::string& job, bool failed);

  // "total: 3/12 jobs (1 failed), 41 %, 12 min left", `seconds` after the start. TimeLeft gives a job's
  // time, over training and evaluation. A job that has not begun may be as slow or as fast as any other.
  std::string describe(double seconds) const;

 private:
  struct Job {
    Operations left;                         // When the call began.
    std::optional<std::int64_t> first_step;  // Its step by then; nothing where the status is damaged.
    double done = 0;                         // Operations.
    bool ended = false;
    std::optional<TimeLeft> clock;  // Nothing before the first report.
  };

  std::optional<double> time_left(double seconds) const;

  std::map<std::string, Job> jobs_;  // By the first run's id.
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace che
