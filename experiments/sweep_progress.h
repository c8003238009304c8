#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/progress.h"
#include "experiments/results_store.h"

namespace che {

// How far the jobs of one call of `che run` are, by their nominal operations, and how long they will take.
class SweepProgress {
 public:
  // `trains` is false where stored models are evaluated alone.
  SweepProgress(const std::vector<std::vector<RunFolder>>& jobs, bool trains);

  void update(const Progress& progress);
  void finish(const std::string& job, bool failed);

  // "all: 3 of 12 jobs ended (1 failed), 41 %, about 12 min left", for `seconds` since the start.
  std::string describe(double seconds) const;

 private:
  struct Job {
    double training = 0;    // Operations.
    double evaluation = 0;  // Likewise.
    double before = -1;     // Part that was done when it was first heard of; negative before that.
    double done = 0;        // Part that is done, 0 .. 1
    double size() const { return training + evaluation; }
  };

  std::map<std::string, Job> jobs_;  // By the first run's id.
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace che
