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

std::string duration_text(double seconds) {
  const Unit& unit = unit_of(seconds);
  return fmt::format("{} {}", number_text(seconds, unit), unit.name);
}

std::string duration_text(double least, double most) {
  const Unit& unit = unit_of(most);
  if (&unit != &unit_of(least)) return fmt::format("{} to {}", duration_text(least), duration_text(most));
  const std::string first = number_text(least, unit);
  return first == number_text(most, unit) ? duration_text(most)
                                          : fmt::format("{} to {}", first, duration_text(most));
}

void TimeLeft::report(double done, double seconds) {
  if (last_seconds_ && seconds > *last_seconds_ && done > done_) {
    speeds_.push_back((done - done_) / (seconds - *last_seconds_));
    if (speeds_.size() > kMaxSpeeds) speeds_.pop_front();
  }
  done_ = done;
  last_seconds_ = seconds;
}

std::optional<double> TimeLeft::speed() const {
  if (speeds_.empty()) return std::nullopt;
  std::vector<double> speeds(speeds_.begin(), speeds_.end());
  std::ranges::sort(speeds);
  return speeds[speeds.size() / 2];
}

std::optional<double> TimeLeft::estimate() const {
  const std::optional<double> measured = speed();
  if (!measured) return std::nullopt;
  return std::max(0.0, work_ - done_) / *measured;
}

double side_by_side(const std::vector<double>& jobs, double workers) {
  double sum = 0;
  double longest = 0;
  for (const double job : jobs) {
    sum += job;
    longest = std::max(longest, job);
  }
  return std::max(sum / workers, longest);
}

double slowdown(double threads, double load, std::int64_t cores) {
  return std::max(1.0, (threads + load) / static_cast<double>(cores));
}

}  // namespace che
