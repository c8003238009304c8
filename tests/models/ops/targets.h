#pragma once

#include <hwy/highway.h>

#include <cstdint>
#include <string>
#include <vector>

namespace che {

// The instruction sets that models/CMakeLists.txt builds for, as far as this machine has them, and what
// serves where there is none of them.
inline std::vector<std::int64_t> kernel_targets() {
  std::vector<std::int64_t> targets;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2}) {
    if ((hwy::SupportedTargets() & target) != 0) targets.push_back(target);
  }
  targets.push_back(HWY_STATIC_TARGET);
  return targets;
}

inline std::string target_name(std::int64_t target) { return hwy::TargetName(target); }

// Lets the kernels run on one instruction set while it lives.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
  }
  ~OnTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;
};

}  // namespace che
