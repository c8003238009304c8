// `che selftest` on the fake device. Each of its processes is this program once more, with one test.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "experiments/measure/device_check.h"
#include "experiments/measure/selftest_report.h"
#include "tests/contains.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

SelftestCheck result_of(const DeviceTest& test) { return std::get<SelftestCheck>(test.run()); }

SelftestPlan small_plan() {
  SelftestPlan plan;
  plan.tokens = {1, 2, 17};
  plan.batch = 2;
  plan.repeated_steps = 2;
  plan.graph_steps = 3;
  plan.timed_tokens = {2};
  plan.timed_replicas = {1};
  plan.timed_calls = plan.timed_rounds = 1;
  plan.timed_batch = 4;
  plan.steps = {.steps = 2, .warm_up = 1, .most_examples = 4};
  return plan;
}

// What happens to the device.
constexpr const char* kFault = "CHE_TEST_FAULT";  // none, illegal_address, crash, hang, lost
constexpr const char* kFirst = "CHE_TEST_FIRST";
constexpr const char* kOnly = "CHE_TEST_ONLY";
constexpr int kIllegalAddress = 700;

bool is_fault(std::string_view name) { return std::getenv(kFault) == name; }

bool has_fault = false;

// The rotation is the kernel that fails.
int faulty_rotation(const KernelCall&, const RotationInputs&, float*) {
  if (is_fault("crash")) std::abort();
  while (is_fault("hang")) std::this_thread::sleep_for(std::chrono::seconds(1));
  has_fault = true;
  return kIllegalAddress;
}

TEST(SelftestProcess, DISABLED_MakesItsTests) {
  const std::int64_t first = std::stoll(std::getenv(kFirst));
  if (is_fault("lost") && first > 0) std::_Exit(2);
  CudaLibrary faulty = *che_cuda_library(kCudaLibraryVersion);
  faulty.kernels.rotation.rotate = faulty_rotation;
  faulty.wait = [] { return has_fault ? kIllegalAddress : kKernelDone; };
  if (!is_fault("none")) emulated_gpu()->library = &faulty;
  SelftestPlan plan = small_plan();
  plan.only = std::getenv(kOnly);
  run_selftest_part(backend_on(fake_device(), Kernels::kFused), plan, first);
  emulated_gpu()->library = che_cuda_library(kCudaLibraryVersion);
}

struct Selftest : ScratchTest {
  // Its exit code, where only tests whose name contains `only` are made.
  int report(const std::string& fault, const std::string& only, std::chrono::seconds limit) {
    const auto process = [&](std::int64_t first) {
      ++processes_;
      return ProcessPlan{
          .words = {std::filesystem::read_symlink("/proc/self/exe").string(),
                    "--gtest_filter=SelftestProcess.DISABLED_MakesItsTests",
                    "--gtest_also_run_disabled_tests"},
          // The child makes all its tests, whatever part of them this process makes.
          .environment = {"GTEST_TOTAL_SHARDS=1", "GTEST_SHARD_INDEX=0", std::string(kFault) + "=" + fault,
                          std::string(kFirst) + "=" + std::to_string(first),
                          std::string(kOnly) + "=" + only}};
    };
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = report_selftest(
        {.process = process, .json = json_, .limit = limit, .command = "che selftest --only"});
    output_ = testing::internal::GetCapturedStdout();
    testing::internal::GetCapturedStderr();
    return code;
  }

  nlohmann::json written() const { return nlohmann::json::parse(read_file(json_)); }

  const std::string json_ = (scratch_.path() / "selftest.json").string();
  std::string output_;
  int processes_ = 0;
};

constexpr std::chrono::seconds kLong{600};

TEST_F(Selftest, FindsNothingWrongWithTheEmulatedKernels) {
  write_file_atomically(scratch_.path() / "nvidia-smi",
                        "#!/bin/sh\necho name, driver_version\necho H100, 580.65\n");
  std::filesystem::permissions(scratch_.path() / "nvidia-smi", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (scratch_.path().string() + ":" + path).c_str(), 1);
  EXPECT_EQ(0, report("none", "", kLong));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(output_.starts_with("emulated: compute capability 9.0")) << output_;
  expect_contains(output_, {"passed 3 steps with graphs, alibi, fp32: error 0.0e+00",
                            "training step with graphs, alibi, 2 tokens, tf32, replicas 1: ",
                            "DAPE by offset, 2 tokens, forward and backward, tf32, replicas 1: "});
  EXPECT_TRUE(output_.ends_with(" passed, 0 failed\n")) << output_;
  const auto report = written();
  EXPECT_EQ(0, report.at("failed"));
  EXPECT_EQ(report.at("passed"), report.at("checks").size());
  EXPECT_EQ("name, driver_version\nH100, 580.65\n", report.at("driver"));
  EXPECT_EQ(report.at("driver"), report.at("driver_at_end"));
  EXPECT_GT(report.at("times").size(), 10U);
  for (const auto& time : report.at("times")) {
    EXPECT_EQ("", time.at("problem")) << time;
    EXPECT_GT(time.at("milliseconds").get<double>(), 0) << time;
    EXPECT_GT(time.at("peak_mib").get<double>(), 0) << time;
  }
  EXPECT_EQ(1, processes_);
}

// Names and results of the tests that are expected for "2 tokens": all but the rotation pass.
void expect_one_failure(const nlohmann::json& report, const std::string& problem) {
  EXPECT_EQ(1, report.at("failed"));
  EXPECT_EQ("rotation, 2 tokens, fp32", report.at("first_failure"));
  EXPECT_GT(report.at("passed"), 10);
  for (const auto& check : report.at("checks")) {
    const bool is_rotation = check.at("name") == "rotation, 2 tokens, fp32";
    EXPECT_EQ(!is_rotation, check.at("passed").get<bool>()) << check;
    if (is_rotation) expect_contains(check.at("problem").get<std::string>(), {problem});
  }
  EXPECT_EQ("recurrent, RNN with a tape, 2 tokens, fp32", report.at("checks").back().at("name"));
}

TEST_F(Selftest, GoesOnAfterAFault) {
  EXPECT_EQ(1, report("illegal_address", "2 tokens, fp32", kLong));
  expect_one_failure(written(), "CUDA error 700");
  EXPECT_GE(processes_, 2);
  expect_contains(
      output_, {"compute-sanitizer --target-processes all che selftest --only 'rotation, 2 tokens, fp32'"});
  EXPECT_TRUE(output_.ends_with("1 failed; the first failure: rotation, 2 tokens, fp32\n")) << output_;
}

TEST_F(Selftest, GoesOnAfterACrash) {
  EXPECT_EQ(1, report("crash", "2 tokens, fp32", kLong));
  expect_one_failure(written(), "signal 6");
}

TEST_F(Selftest, EndsATestThatHangs) {
  EXPECT_EQ(1, report("hang", "rotation, 2 tokens, fp32", std::chrono::seconds(20)));
  expect_contains(written().at("checks").at(0).at("problem").get<std::string>(), {"did not end in 20 s"});
}

TEST_F(Selftest, EndsWhereTheDeviceCannotBeOpenedAgain) {
  EXPECT_EQ(1, report("lost", "2 tokens, fp32", kLong));
  const auto checks = written().at("checks");
  EXPECT_EQ("opening the GPU", checks.back().at("name"));
  expect_contains(checks.back().at("problem").get<std::string>(), {"exit code 2"});
  EXPECT_EQ(2, processes_);
}

TEST_F(Selftest, RefusesANameThatNoTestHas) {
  expect_contains(message_of([&] { report("none", "no such test", kLong); }), {"--only", "no test"});
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
}

TEST(DeviceCheck, FindsAKernelThatIsWrong) {
  KernelTable wrong = emulated_kernels();
  wrong.rotation.rotate = [](const KernelCall& call, const RotationInputs& in, float* out) {
    RotationInputs backwards = in;
    backwards.backwards = !in.backwards;
    return emulated_kernels().rotation.rotate(call, backwards, out);
  };
  const OtherKernels others(wrong);
  SelftestPlan plan;
  plan.tokens = {3};
  plan.batch = 1;
  std::vector<std::string> failed;
  check_operations(backend_on(fake_device(), Kernels::kFused), plan, [&](const DeviceTest& test) {
    if (!result_of(test).passed()) failed.push_back(test.name);
  });
  EXPECT_EQ(std::vector<std::string>{"rotation, 3 tokens, fp32"}, failed);
}

// A kernel that takes the step from its arguments, which a replay does not change.
TEST(DeviceCheck, FindsAGraphWithStaleMasks) {
  KernelTable stale = emulated_kernels();
  stale.residual_norm.forward = [](const KernelCall& call, const ResidualNormInputs& in,
                                   const ExampleView<float>& out, const ExampleView<float>& moments) {
    KernelCall without_step = call;
    without_step.step = nullptr;
    return emulated_kernels().residual_norm.forward(without_step, in, out, moments);
  };
  const auto check = [] {
    return result_of(check_repeats(encoding_called("alibi"), backend_on(fake_device(), Kernels::kFused), 3,
                                   GpuPrecision::kFp32, true));
  };
  EXPECT_TRUE(check().passed()) << check().problem;
  const OtherKernels others(stale);
  EXPECT_FALSE(check().passed());
}

// A gradient of f that is wrong by a twentieth.
TEST(DeviceCheck, FindsASmallErrorOfOneGradient) {
  KernelTable wrong = emulated_kernels();
  wrong.attention.backward = [](const KernelCall& call, const AttentionInputs& in, const float* saved,
                                const ExampleView<const float>& d_out, const AttentionGradients& out) {
    const int answer = emulated_kernels().attention.backward(call, in, saved, d_out, out);
    for (std::int64_t i = 0; out.d_w1 != nullptr && i < in.shape.heads * in.shape.hidden; ++i) {
      out.d_w1[i] *= 1.05F;
    }
    return answer;
  };
  const OtherKernels others(wrong);
  const SelftestCheck check = result_of(check_encoding(
      encoding_called("dape_kerple"), backend_on(fake_device(), Kernels::kFused), GpuPrecision::kFp32));
  EXPECT_FALSE(check.passed()) << check.error;
}

}  // namespace
}  // namespace che
