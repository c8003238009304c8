#include "experiments/training/thread_limit.h"

#include <ATen/Parallel.h>

#include <cstddef>
#include <cstdlib>

#include "experiments/scheduling/worker_count.h"

namespace che {
namespace {

// MKL's products depend on the number of threads on some processors (Emerald Rapids, for one) unless it is
// asked for strict reproducibility, before its first product. A user's own setting stands.
const bool asked_for_reproducible_products = ::setenv("MKL_CBWR", "AUTO,STRICT", 0) == 0;

}  // namespace

// Not more threads than the process may use: with 1024 on two cores fifty small steps took 69 seconds, and
// with two 2.7.
ThreadLimit::ThreadLimit(std::int64_t threads) : ThreadLimit(Usable{usable_threads(threads)}) {}

ThreadLimit::ThreadLimit(Usable usable)
    : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(usable.threads)) {
  at::set_num_threads(static_cast<int>(usable.threads));
}

}  // namespace che
