#include "experiments/schedule/time_left.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace che {
namespace {

constexpr std::size_t kMaxSpeeds = 60;
constexpr double kMinute = 60;
constexpr double kHour = 3600;

// The largest number of seconds that is shown in a unit, so that three digits suffice.
struct Unit {
  const char* name;
  double seconds;
  double up_to;
};
constexpr std::array kUnits{Unit{"s", 1, 99.5}, Unit{"min", kMinute, 100 * kMinute}, Unit{"h", kHour, 0}};

const Unit& unit_of(double seconds) {
  const auto* const found =
      std::ranges::find_if(kUnits, [&](const Unit& unit) { return seconds < unit.up_to; });
  return found == kUnits.end() ? kUnits.back() : *found;
}

std::string number_text(double seconds, const Unit& unit) {
  const double number = seconds / unit.seconds;
  return unit.seconds == kHour ? fmt::format("{:.1f}", number) : fmt::format("{}", std::llround(number));
}

}  // namespace

std::string duration_text(double seconds) {
  const Unit& unit = unit_of(seconds);
  return fmt::format("{} {}", number_text(seconds, unit), unit.name);
}

std::string duration_text(const TimeRange& range) {
  const Unit& unit = unit_of(range.max);
  const std::string most = duration_text(range.max);
  if (&unit != &unit_of(range.min)) return fmt::format("{} to {}", duration_text(range.min), most);
  const std::string least = number_text(range.min, unit);
  return least == number_text(range.max, unit) ? most : fmt::format("{} to {}", least, most);
}

void TimeLeft::report(double done, double seconds) {
  if (last_seconds_ && seconds > *last_seconds_ && done > done_) {
    speeds_.push_back((done - done_) / (seconds - *last_seconds_));
    if (speeds_.size() > kMaxSpeeds) speeds_.pop_front();
  }
  done_ = done;
  last_seconds_ = seconds;
}

std::optional<TimeLeft::Speeds> TimeLeft::speeds() const {
  if (speeds_.empty()) return std::nullopt;
  std::vector<double> speeds(speeds_.begin(), speeds_.end());
  std::ranges::sort(speeds);
  const std::size_t quarter = speeds.size() / 4;
  return Speeds{.slow = speeds[quarter], .fast = speeds[speeds.size() - 1 - quarter]};
}

std::optional<TimeRange> TimeLeft::estimate() const {
  const std::optional<Speeds> measured = speeds();
  if (!measured) return std::nullopt;
  const double left = std::max(0.0, work_ - done_);
  return TimeRange{.min = left / measured->fast, .max = left / measured->slow};
}

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
