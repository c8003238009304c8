#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace che {

// How long something takes, in seconds: by the fastest, the slowest and the median measurement.
struct TimeRange {
  double min = 0;
  double max = 0;
  double middle = 0;

  TimeRange& operator+=(const TimeRange& other);
};
// `factor` times as long.
TimeRange operator*(double factor, const TimeRange& time);

// "53 s", "12 min", "3.4 h" or "1600 h": hours with two digits.
std::string duration_text(double seconds);

// "12 to 15 min"; "12 min" where both ends read the same.
std::string duration_text(const TimeRange& range);

// Estimates how long the rest of some work takes, from the speed so far. Time before the first report does
// not count: a process starts in it, and its first steps fill caches.
class TimeLeft {
 public:
  // `work` is all that there is to do, in any unit.
  explicit TimeLeft(double work) : work_(work) {}

  // Says that `done` of the work is done `seconds` after some fixed moment. Both grow.
  void report(double done, double seconds);

  // Returns the time by speeds(), or nothing before the second report.
  std::optional<TimeRange> estimate() const;

  // Work per second: the quartiles of the speeds between the last reports. Nothing before the second report.
  struct Speeds {
    double slow = 0;
    double fast = 0;
    double middle = 0;

    // The time that `work` takes at these speeds.
    TimeRange time_of(double work) const { return {work / fast, work / slow, work / middle}; }
  };
  std::optional<Speeds> speeds() const;

 private:
  double work_;
  double done_ = 0;
  std::optional<double> last_seconds_;
  std::deque<double> speeds_;  // Between the last reports, the oldest first.
};

// The time of all `jobs` when so many worker processes share them: at least that of the longest job.
TimeRange side_by_side(const std::vector<TimeRange>& jobs, double workers);

// A job whose time was measured.
struct MeasuredJob {
  TimeRange time;
  bool is_on_gpu = false;
};

// The time of each job by its median on a machine that is in use. At the upper end `load` other processes
// compete with our `threads` for `cores`, which hardly slows a job on a GPU; the lower end is that of an idle
// machine.
std::vector<TimeRange> under_load(const std::vector<MeasuredJob>& jobs, double threads, double load,
                                  std::int64_t cores);

}  // namespace che
