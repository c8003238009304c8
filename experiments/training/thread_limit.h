#pragma once

#include <oneapi/tbb/global_control.h>

#include <cstdint>

namespace che {

// While it exists this process computes with that many threads, at most with as many as there are cores (see
// usable_threads): LibTorch's operations, the project's kernels and the drawing of samples. Everything that
// trains, evaluates or measures holds one, so that times are comparable.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::int64_t threads);

 private:
  struct Usable {
    std::int64_t threads;
  };
  explicit ThreadLimit(Usable usable);

  tbb::global_control limit_;
};

}  // namespace che
