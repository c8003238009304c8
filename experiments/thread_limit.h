#pragma once

#include <oneapi/tbb/global_control.h>

#include <cstdint>

namespace che {

// While it lives this process computes with so many threads: LibTorch's operations, the project's kernels and
// the drawing of samples. Whatever trains, evaluates or measures holds one, so that their times compare.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::int64_t threads);

 private:
  tbb::global_control limit_;
};

}  // namespace che
