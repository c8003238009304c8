#include "experiments/scheduling/job_times.h"

#include <algorithm>

namespace che {

TimeRange side_by_side(const std::vector<TimeRange>& jobs, double workers) {
  TimeRange sum;
  TimeRange longest;
  for (const TimeRange& job : jobs) {
    sum = {.min = sum.min + job.min, .max = sum.max + job.max};
    longest = {.min = std::max(longest.min, job.min), .max = std::max(longest.max, job.max)};
  }
  return {.min = std::max(sum.min / workers, longest.min), .max = std::max(sum.max / workers, longest.max)};
}

std::vector<TimeRange> under_load(const std::vector<MeasuredJob>& jobs, double threads, double load,
                                  std::int64_t cores) {
  const double per_core = (threads + load) / static_cast<double>(cores);
  std::vector<TimeRange> times;
  times.reserve(jobs.size());
  for (const auto& [time, is_on_gpu] : jobs) {
    times.push_back({.min = time.min, .max = time.max * (is_on_gpu ? 1 : std::max(1.0, per_core))});
  }
  return times;
}

}  // namespace che
