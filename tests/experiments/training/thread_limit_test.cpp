#include "experiments/training/thread_limit.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/resources.h"

namespace che {
namespace {

TEST(ThreadLimit, HoldsForLibTorchAndKernels) {
  const auto kernels = [] {
    return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  };
  const std::size_t before = kernels();
  auto limit = std::make_optional<ThreadLimit>(1);
  EXPECT_EQ(1, at::get_num_threads());
  EXPECT_EQ(1U, kernels());
  limit.reset();
  EXPECT_EQ(before, kernels());
}

TEST(ThreadLimit, IsAtMostTheCores) {
  const ThreadLimit limit(1024);
  EXPECT_EQ(available_resources().cores, at::get_num_threads());
}

}  // namespace
}  // namespace che
