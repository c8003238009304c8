#include "experiments/schedule/devices.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/files.h"
#include "experiments/plan/identity.h"
#include "experiments/store/run_folder.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

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

RunConfig on_devices(const std::string& device, const std::vector<std::int64_t>& devices) {
  RunConfig config = on_device(device);
  config.execution.devices = devices;
  return config;
}

TEST(Devices, AreTheGpusOfWorkers) {
  EXPECT_EQ(2, default_workers({on_devices("cuda", {0, 2})}, kWithGpus));
  EXPECT_EQ(1, default_workers({on_devices("auto", {1})}, kWithGpus));
  EXPECT_EQ(8, default_workers({on_devices("auto", {0, 1})}, kMachine));
  EXPECT_EQ(3, default_workers({on_devices("cuda", {0, 2}), on_device("cuda:1")}, kWithGpus));
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 2}), gpus_of(on_device("auto").execution, kWithGpus.gpus));
  EXPECT_TRUE(gpus_of(on_devices("auto", {1}).execution, {}).empty());
}

TEST(Devices, GoToTheWorkersInTurn) {
  const auto next = [](const RunConfig& config, const std::vector<std::string>& in_use) {
    return next_gpu(config.execution, kWithGpus.gpus, in_use).value_or(-1);
  };
  // Named "0", "2" and "3".
  EXPECT_EQ(0, next(on_device("cuda"), {}));
  EXPECT_EQ(2, next(on_devices("cuda", {2, 1}), {}));
  EXPECT_EQ(1, next(on_devices("cuda", {2, 1}), {"3"}));
  EXPECT_EQ(2, next(on_devices("cuda", {2, 1}), {"3", "2", "2", "0"}));
  EXPECT_EQ(1, next(on_device("cuda:1"), {"2", "2"}));
  EXPECT_EQ(-1, next(on_device("cpu"), {}));
}

TEST(Devices, ThatAreNotVisibleAreRefusedWithThoseThatAre) {
  EXPECT_NO_THROW(check_devices({on_devices("cuda", {0, 2})}, kWithGpus, kKernels));
  EXPECT_NO_THROW(check_devices({on_devices("auto", {0, 5})}, kMachine, kKernels));
  const auto message = [](const std::vector<std::string>& gpus) {
    const Resources resources{.cores = 8, .memory_bytes = 0x1p30, .gpus = gpus};
    return message_of([&] { check_devices({on_devices("cuda", {0, 3})}, resources, kKernels); });
  };
  EXPECT_EQ("execution.devices: got 3; allowed: 0 to 2, the places of the GPUs that are visible here",
            message(kWithGpus.gpus));
  EXPECT_EQ("execution.devices: got 3; allowed: 0, the places of the GPUs that are visible here",
            message({"0"}));
}

TEST(Devices, GoWithADeviceThatLeavesThemOpen) {
  EXPECT_FALSE(on_devices("cuda", {0, 1}).problem().has_value());
  EXPECT_FALSE(on_devices("auto", {0, 1}).problem().has_value());
  EXPECT_FALSE(on_device("cuda:1").problem().has_value());
  for (const char* device : {"cpu", "cuda:1"}) {
    const auto problem = on_devices(device, {0, 1}).problem();
    ASSERT_TRUE(problem.has_value()) << device;
    EXPECT_TRUE(problem->message().starts_with("execution.devices, execution.device: "))
        << problem->message();
  }
}

TEST(Devices, AndReplicasAreNoPartOfARunAndAreReadAsTheyWereWritten) {
  RunConfig config = on_devices("cuda", {3, 1});
  config.execution.replicas = kAutoReplicas;
  EXPECT_EQ(run_id(RunConfig()), run_id(config));
  const std::string yaml = to_yaml(config);
  expect_contains(yaml, {"  devices: [3, 1]\n", "  replicas: auto\n"});
  const RunConfig read = parse_run_config(yaml, "config.yaml");
  EXPECT_EQ(config.execution.devices, read.execution.devices);
  EXPECT_EQ(kAutoReplicas, read.execution.replicas);
  EXPECT_FALSE(contains(to_yaml(RunConfig()), "devices"));
}

TEST(Gpus, ThatAreNotVisibleAreRefused) {
  EXPECT_NO_THROW(
      check_devices({on_device("cuda"), on_device("cuda:2"), on_device("auto")}, kWithGpus, kKernels));
  EXPECT_NO_THROW(check_devices({on_device("cpu"), on_device("auto")}, kMachine));
  const auto message = [](const std::string& device, const Resources& resources) {
    return message_of([&] { check_devices({on_device(device)}, resources); });
  };
  EXPECT_TRUE(message("cuda", kMachine).starts_with("execution.device: cuda: no GPU is visible here"));
  EXPECT_TRUE(
      message("cuda", kWithGpus).starts_with("execution.device: cuda: this program has no CUDA kernels"));
  EXPECT_TRUE(message("cuda:3", kWithGpus).starts_with("execution.device: cuda:3: 3 GPUs are visible here"));
}

RunConfig with_precision(Precision precision, const std::string& device = "cpu") {
  RunConfig config = on_device(device);
  config.execution.precision = precision;
  return config;
}

TEST(Precision, OfBf16IsForEveryDevice) {
  for (const char* device : {"cpu", "cuda", "auto"}) {
    EXPECT_NO_THROW(check_devices({with_precision(Precision::kBf16, device)}, kWithGpus, kKernels));
  }
  EXPECT_EQ(Precision::kBf16,
            on_device(with_precision(Precision::kBf16).execution, "cpu", kWithGpus).precision);
}

// What `auto` is where bf16 products are `speed` times as fast as those of fp32.
Precision chosen(RunConfig run, double speed, bool has_bf16 = true) {
  std::vector<RunConfig> runs{std::move(run)};
  choose_precision(
      runs, {}, [&](const RunConfig&) { return speed; }, has_bf16);
  return runs.front().execution.precision;
}

TEST(Precision, IsBf16WhereThatIsFaster) {
  EXPECT_EQ(Precision::kBf16, chosen(with_precision(Precision::kAuto), 1.4));
  EXPECT_EQ(Precision::kFp32, chosen(with_precision(Precision::kAuto), 1.39));
  EXPECT_EQ(Precision::kFp32, chosen(with_precision(Precision::kAuto), 2, /*has_bf16=*/false));
  EXPECT_EQ(Precision::kFp32, chosen(with_precision(Precision::kAuto, "auto"), 2)) << "it may be a GPU";
  EXPECT_EQ(Precision::kBf16, chosen(with_precision(Precision::kBf16), 1, /*has_bf16=*/false))
      << "it was asked for";
  EXPECT_EQ(Precision::kFp32, chosen(with_precision(Precision::kFp32), 2));
  RunConfig lstm = with_precision(Precision::kAuto);
  lstm.model.kind = "lstm";
  EXPECT_EQ(Precision::kFp32, chosen(lstm, 2)) << "it has no layers that bf16 is for";
}

TEST(Precision, IsMeasuredOnceForAShapeAndSaysSo) {
  std::vector<RunConfig> runs(3, with_precision(Precision::kAuto));
  runs[1].seed = 1;
  runs[2].training.batch_size = 7;
  std::vector<std::int64_t> measured;
  const std::vector<std::string> notes = choose_precision(
      runs, {},
      [&](const RunConfig& run) {
        measured.push_back(run.training.batch_size);
        return 0.58;
      },
      true);
  EXPECT_EQ((std::vector<std::int64_t>{128, 7}), measured);
  ASSERT_EQ(2U, notes.size());
  expect_contains(notes.front(), {"execution.precision: auto is fp32: for ", " rows of width 256, bf16 ",
                                  "0.58 times as fast as fp32's, and 1.4 times is asked for"});
}

// `run --list` measures nothing.
TEST(Precision, StaysOpenWhereNothingMayBeMeasured) {
  std::vector<RunConfig> runs{with_precision(Precision::kAuto)};
  EXPECT_TRUE(choose_precision(runs, {}, nullptr, /*has_bf16=*/true).empty());
  EXPECT_EQ(Precision::kAuto, runs.front().execution.precision);
  choose_precision(runs, {}, nullptr, /*has_bf16=*/false);
  EXPECT_EQ(Precision::kFp32, runs.front().execution.precision);
}

// A run goes on as it began, whatever the machine is like.
TEST(Precision, OfAStoredRunStays) {
  const ScratchFolder folder;
  for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
    RunConfig begun = with_precision(precision);
    begun.seed = precision == Precision::kBf16 ? 1 : 2;
    RunFolder::create(folder.path(), begun);
    std::vector<RunConfig> runs{begun};
    runs.front().execution.precision = Precision::kAuto;
    const auto speed = [&](const RunConfig&) { return precision == Precision::kBf16 ? 0.5 : 2; };
    EXPECT_TRUE(choose_precision(runs, folder.path(), speed, precision == Precision::kFp32).empty());
    EXPECT_EQ(precision, runs.front().execution.precision);
    EXPECT_EQ(precision, RunFolder::at(folder.path(), runs.front()).config().execution.precision);
  }
}

TEST(Precision, ThatMakesTwoRunsOneIsRefused) {
  std::vector<RunConfig> runs{with_precision(Precision::kAuto), with_precision(Precision::kBf16)};
  const auto speed = [](const RunConfig&) { return 2.0; };
  expect_contains(message_of([&] { choose_precision(runs, {}, speed, true); }),
                  {"execution.precision: auto is bf16", run_id(runs[1])});
}

TEST(Precision, OfTf32IsForGpus) {
  RunConfig config = on_device("auto");
  config.execution.precision = Precision::kTf32;
  EXPECT_NO_THROW(check_devices({config}, kWithGpus, kKernels));
  EXPECT_THROW(check_devices({config}, kMachine), Error);
}

// A run that was trained in TF32 can be evaluated where no GPU is.
TEST(Devices, OfACommandReplaceTheRunsOwn) {
  ExecutionConfig stored;
  stored.device = "cuda";
  stored.devices = {0, 1};
  stored.precision = Precision::kTf32;
  for (const auto& [device, resources, precision] :
       std::vector<std::tuple<std::string, Resources, Precision>>{{"cpu", kWithGpus, Precision::kFp32},
                                                                  {"auto", kMachine, Precision::kFp32},
                                                                  {"auto", kWithGpus, Precision::kTf32},
                                                                  {"cuda:1", kWithGpus, Precision::kTf32}}) {
    RunConfig config;
    config.execution = on_device(stored, device, resources);
    EXPECT_EQ(device, config.execution.device);
    EXPECT_TRUE(config.execution.devices.empty());
    EXPECT_EQ(precision, config.execution.precision) << device;
    EXPECT_NO_THROW(check_devices({config}, resources, kKernels)) << device;
  }
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
