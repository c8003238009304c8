#pragma once

#include <cstdint>
#include <string>

#include "core/clock.h"
#include "experiments/scheduling/progress.h"
#include "experiments/scheduling/time_left.h"

namespace che {

// Counts the steps or lengths of one phase of a job, and reports every second and after the last of them.
class ProgressMeter {
 public:
  // `done` of `total` are done already; what is left is `work`, in any unit.
  ProgressMeter(const std::string& job, Phase phase, std::int64_t done, std::int64_t total, double work,
                const ProgressSink& sink);

  // One more is done; it was `work` of the work, and measured this.
  void add(double work, double loss, double accuracy);

 private:
  Progress progress_;  // Loss and accuracy are sums since the last report.
  const ProgressSink& sink_;
  TimeLeft time_left_;
  double work_done_ = 0;
  std::int64_t reported_;  // Steps or lengths done at the last report.
  Every is_due_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_report_ = start_;
};

}  // namespace che
