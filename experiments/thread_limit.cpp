#include "experiments/thread_limit.h"

#include <ATen/Parallel.h>

#include <cstddef>

namespace che {

ThreadLimit::ThreadLimit(std::int64_t threads)
    : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)) {
  at::set_num_threads(static_cast<int>(threads));
}

}  // namespace che
