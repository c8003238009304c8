#pragma once

#include <chrono>

namespace che {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A timer for what is done again and again: says once that `seconds` have passed, and counts from there.
class Every {
 public:
  explicit Every(double seconds) : seconds_(seconds) {}

  // Whether `seconds` have passed since it last said so, or since it was made.
  bool is_due() {
    if (seconds_since(start_) < seconds_) return false;
    start_ = Clock::now();
    return true;
  }

 private:
  double seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace che
