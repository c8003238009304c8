#include "experiments/schedule/time_left.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

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

// A number with two digits, or all that it has before the point where those are few: 3.4, 16, 380000.
std::string number_text(double seconds, const Unit& unit) {
  double number = seconds / unit.seconds;
  if (unit.seconds < kHour) return fmt::format("{}", std::llround(number));
  if (number < 9.95) return fmt::format("{:.1f}", number);
  const double last_digit = std::pow(10, std::max(0.0, std::floor(std::log10(number)) - 1));
  return fmt::format("{:.0f}", std::round(number / last_digit) * last_digit);
}

}  // namespace

TimeRange& TimeRange::operator+=(const TimeRange& other) {
  min += other.min;
  max += other.max;
  middle += other.middle;
  return *this;
}

TimeRange operator*(double factor, const TimeRange& time) {
  return {.min = factor * time.min, .max = factor * time.max, .middle = factor * time.middle};
}

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
  return Speeds{.slow = speeds[quarter],
                .fast = speeds[speeds.size() - 1 - quarter],
                .middle = speeds[speeds.size() / 2]};
}

std::optional<TimeRange> TimeLeft::estimate() const {
  const std::optional<Speeds> measured = speeds();
  if (!measured) return std::nullopt;
  return measured->time_of(std::max(0.0, work_ - done_));
}

TimeRange side_by_side(const std::vector<TimeRange>& jobs, double workers) {
  const auto of = [&](double TimeRange::*end) {
    double sum = 0;
    double longest = 0;
    for (const TimeRange& job : jobs) {
      sum += job.*end;
      longest = std::max(longest, job.*end);
    }
    return std::max(sum / workers, longest);
  };
  return {.min = of(&TimeRange::min), .max = of(&TimeRange::max), .middle = of(&TimeRange::middle)};
}

std::vector<TimeRange> under_load(const std::vector<MeasuredJob>& jobs, double threads, double load,
                                  std::int64_t cores) {
  const double per_core = (threads + load) / static_cast<double>(cores);
  std::vector<TimeRange> times;
  times.reserve(jobs.size());
  for (const auto& [time, is_on_gpu] : jobs) {
    times.push_back({.min = time.middle, .max = time.middle, .middle = time.middle});
    if (!is_on_gpu) times.back().max *= std::max(1.0, per_core);
  }
  return times;
}

}  // namespace che
