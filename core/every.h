#pragma once

#include "core/clock.h"

namespace che {

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
