#include "experiments/scheduling/worker_count.h"

#include <gtest/gtest.h>

namespace che {
namespace {

constexpr Resources kMachine{.cores = 8, .memory_bytes = 64 * 0x1p30};

RunConfig with_threads(std::int64_t threads) {
  RunConfig config;
  config.execution.threads = threads;
  return config;
}

TEST(DefaultWorkers, SuitTheMostDemandingRunWhereverItStands) {
  RunConfig large;
  large.execution.memory_gib = 30;
  EXPECT_EQ(8, default_workers({RunConfig()}, kMachine));
  EXPECT_EQ(4, default_workers({RunConfig(), with_threads(2)}, kMachine));
  EXPECT_EQ(2, default_workers({large, RunConfig()}, kMachine));
  EXPECT_EQ(1, default_workers({with_threads(1024)}, kMachine));
  EXPECT_EQ(1, default_workers({large}, {.cores = 8, .memory_bytes = 0x1p30}));
}

TEST(Threads, AreAtMostTheCoresAndTheWarningSaysSo) {
  EXPECT_EQ(3, usable_threads(3, kMachine));
  EXPECT_EQ(8, usable_threads(1024, kMachine));
  EXPECT_FALSE(threads_warning({with_threads(1), with_threads(8)}, kMachine).has_value());
  EXPECT_EQ("execution.threads=1024: 8 cores are available here; each worker computes with 8 threads",
            threads_warning({with_threads(1), with_threads(1024)}, kMachine).value_or(""));
}

}  // namespace
}  // namespace che
