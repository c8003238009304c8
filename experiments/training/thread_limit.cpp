#include "experiments/training/thread_limit.h"

#include <ATen/Parallel.h>

#include <cstddef>

#include "experiments/schedule/devices.h"

namespace che {
// Not more threads than the process may use: with 1024 on two cores fifty small steps took 69 seconds, and
// with two 2.7.
ThreadLimit::ThreadLimit(std::int64_t threads) : ThreadLimit(Usable{usable_threads(threads)}) {}

ThreadLimit::ThreadLimit(Usable usable)
    : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(usable.threads)) {
  at::set_num_threads(static_cast<int>(usable.threads));
}

}  // namespace che
