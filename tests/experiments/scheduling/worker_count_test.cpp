#include "experiments/scheduling/worker_count.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace che {
namespace {

const Resources kMachine{.cores = 8, .memory_bytes = 64 * 0x1p30};
const std::filesystem::path kKernels = "/proc/self/exe";  // A file that is there.
const Resources kWithGpus{.cores = 8, .memory_bytes = 64 * 0x1p30, .gpus = {"0", "2", "3"}};

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

RunConfig on_device(const std::string& device) {
  RunConfig config;
  config.execution.device = device;
  return config;
}

TEST(DefaultWorkers, AreOneForEachGpu) {
  EXPECT_EQ(3, default_workers({on_device("cuda")}, kWithGpus));
  EXPECT_EQ(3, default_workers({on_device("auto")}, kWithGpus));
  EXPECT_EQ(8, default_workers({on_device("cpu")}, kWithGpus));
  EXPECT_EQ(8, default_workers({on_device("auto")}, kMachine));
  EXPECT_EQ(1, default_workers({on_device("cuda:2"), on_device("cuda:2")}, kWithGpus));
  EXPECT_EQ(2, default_workers({on_device("cuda:2"), on_device("cuda:0")}, kWithGpus));
  EXPECT_EQ(3, default_workers({on_device("cuda:2"), on_device("cuda")}, kWithGpus));
}

TEST(Gpus, ThatAreNotVisibleAreRefused) {
  EXPECT_NO_THROW(
      check_devices({on_device("cuda"), on_device("cuda:2"), on_device("auto")}, kWithGpus, kKernels));
  EXPECT_NO_THROW(check_devices({on_device("cpu"), on_device("auto")}, kMachine));
  const auto message = [](const std::string& device, const Resources& resources) -> std::string {
    try {
      check_devices({on_device(device)}, resources);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_TRUE(message("cuda", kMachine).starts_with("execution.device: cuda: no GPU is visible here"));
  EXPECT_TRUE(
      message("cuda", kWithGpus).starts_with("execution.device: cuda: this program has no CUDA kernels"));
  EXPECT_TRUE(message("cuda:3", kWithGpus).starts_with("execution.device: cuda:3: 3 GPUs are visible here"));
}

TEST(Precision, OfACpuIsSingle) {
  RunConfig config = on_device("auto");
  config.execution.precision = "tf32";
  EXPECT_NO_THROW(check_devices({config}, kWithGpus, kKernels));
  EXPECT_THROW(check_devices({config}, kMachine), Error);
}

TEST(Devices, AreNamed) {
  EXPECT_EQ(DeviceChoice::Kind::kCpu, device_choice("cpu").kind);
  EXPECT_EQ(DeviceChoice::Kind::kAuto, device_choice("auto").kind);
  EXPECT_FALSE(device_choice("cuda").number.has_value());
  EXPECT_EQ(15, device_choice("cuda:15").number.value_or(-1));
  for (const char* name : {"", "gpu", "cuda:", "cuda:16", "cuda:x", "CUDA"}) {
    EXPECT_THROW(device_choice(name), Error) << name;
  }
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
