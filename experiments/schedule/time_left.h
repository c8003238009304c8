#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace che {

// "53 s", "12 min", "3.4 h" or "1600 h": hours with two digits.
std::string duration_text(double seconds);

// "12 to 15 min"; "12 min" where both ends read the same.
std::string duration_text(double least, double most);

// Estimates how long the rest of some work takes, from the speed so far. Time before the first report does
// not count: a process starts in it, and its first steps fill caches.
class TimeLeft {
 public:
  // `work` is all that there is to do, in any unit.
  explicit TimeLeft(double work) : work_(work) {}

  // Says that `done` of the work is done `seconds` after some fixed moment. Both grow.
  void report(double done, double seconds);

  // Work per second: the median of the speeds between the last reports. Nothing before the second report.
  std::optional<double> speed() const;
  // Returns the time of the rest in seconds at that speed.
  std::optional<double> estimate() const;

 private:
  double work_;
  double done_ = 0;
  std::optional<double> last_seconds_;
  std::deque<double> speeds_;  // Between the last reports, the oldest first.
};

// The time of all `jobs`, which are given by theirs, when so many worker processes share them: at least that
// of the longest job.
double side_by_side(const std::vector<double>& jobs, double workers);

// How many times as long a job takes on a machine where `load` other processes compete with our `threads` for
// `cores`.
double slowdown(double threads, double load, std::int64_t cores);

}  // namespace che
