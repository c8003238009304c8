#include "experiments/learn/limits.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <stdexcept>

#include "core/resources.h"
#include "tests/contains.h"

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

TEST(OutOfMemory, LibTorchsErrorIsOneLineWithTheAmountAndARemedy) {
  try {
    at::empty({std::int64_t{1} << 58}, at::kFloat);
    FAIL() << "allocated an exbibyte";
  } catch (const std::exception& error) {
    EXPECT_TRUE(is_out_of_memory(error)) << error.what();
    const std::string text = failure_text(error);
    expect_contains(text, {"out of memory (1.07e+09 GiB more", "execution.memory_gib"});
    EXPECT_EQ(std::string::npos, text.find('\n')) << text;
  }
}

TEST(OutOfMemory, SoIsAGpus) {
  try {
    TORCH_CHECK_WITH(
        OutOfMemoryError, false,
        "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.1 GiB");
  } catch (const std::exception& error) {
    EXPECT_TRUE(is_out_of_memory(error));
    expect_contains(failure_text(error), {"out of memory (2.50 GiB more were needed); use fewer workers"});
  }
}

TEST(OutOfMemory, SoIsTheStandardLibrarys) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  expect_contains(failure_text(std::bad_alloc()), {"out of memory; use fewer workers"});
}

TEST(OutOfMemory, OtherErrorsKeepTheirFirstLine) {
  EXPECT_EQ("one", failure_text(std::runtime_error("one\ntwo")));
  try {
    at::zeros({2, 3}).mm(at::zeros({2, 3}));
    FAIL() << "multiplied what does not fit";
  } catch (const std::exception& error) {
    EXPECT_FALSE(is_out_of_memory(error));
    EXPECT_EQ(std::string::npos, failure_text(error).find('\n'));
    expect_contains(failure_text(error), {"2x3"});
  }
}

}  // namespace
}  // namespace che
