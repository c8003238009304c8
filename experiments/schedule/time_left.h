#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace che {

// Seconds that something takes, from the fastest to the slowest that was measured.
struct TimeRange {
  double min = 0;
  double max = 0;
};

// "53 s", "12 min" or "3.4 h"
std::string duration_text(double seconds);

// "12 to 15 min"; "12 min" where both ends read the same.
std::string duration_text(const TimeRange& range);

// Estimates how long the rest of some work takes from the speed of what is done of it. What came before the
// first report (the start of a process, first steps that fill caches) does not count.
class TimeLeft {
 public:
  // `work` is all that there is to do, in any unit.
  explicit TimeLeft(double work) : work_(work) {}

  // `done` of it is done `seconds` after some fixed moment; both grow.
  void report(double done, double seconds);

  // By speeds(). Nothing before the second report.
  std::optional<TimeRange> estimate() const;

  // Work per second: the lower and the upper quartile of the speeds between the last reports. Likewise.
  struct Speeds {
    double slow = 0;
    double fast = 0;
  };
  std::optional<Speeds> speeds() const;

 private:
  double work_;
  double done_ = 0;
  std::optional<double> last_seconds_;
  std::deque<double> speeds_;  // Between the last reports, the oldest first.
};

// What jobs that take so long each take side by side, with so many worker processes: all of them over the
// workers, and not less than the longest.
TimeRange side_by_side(const std::vector<TimeRange>& jobs, double workers);

// A job whose time was measured.
struct MeasuredJob {
  TimeRange time;
  bool is_on_gpu = false;
};

// What each job takes on a machine whose other processes may go on: at the upper end, `load` of them compete
// with `threads` of ours for `cores`, which a job on a GPU hardly needs. The lower end is that of a machine
// that we have alone.
std::vector<TimeRange> under_load(const std::vector<MeasuredJob>& jobs, double threads, double load,
                                  std::int64_t cores);

}  // namespace che
