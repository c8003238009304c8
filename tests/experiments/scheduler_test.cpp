#include "experiments/scheduler.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(DefaultWorkers, SuitTheMostDemandingRunWhereverItStands) {
  RunConfig wide;
  wide.execution.threads = 1'024;
  RunConfig large;
  large.execution.memory_gib = 1e6;
  EXPECT_EQ(1, default_workers({RunConfig(), wide}));
  EXPECT_EQ(1, default_workers({large, RunConfig()}));
  EXPECT_GE(default_workers({RunConfig()}), 1);
}

}  // namespace
}  // namespace che
