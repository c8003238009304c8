// A training step and an evaluation of every encoding on a device that is not the CPU: the same values, no
// mixture of devices, and how often the host waits.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "experiments/training/selftest_report.h"
#include "experiments/training/small_model.h"
#include "experiments/training/training.h"
#include "models/kernels/cuda_host/cuda_kernels.h"
#include "models/kernels/rotation.h"
#include "tests/gpu/fake_device.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

Backend backend_on(const at::Device& device, Kernels kernels) {
  return {kernels, at::TensorOptions().dtype(at::kFloat).device(device)};
}

// The fused operations of the fake device are the CUDA kernels, which an emulation runs.
const bool has_cuda_kernels = [] {
  use_cuda_kernels(fake_device().type(), *che_cuda_kernels(kCudaAbiVersion));
  return true;
}();

EncodingConfig encoding_called(const std::string& name) {
  EncodingConfig encoding;
  encoding.reset(name);
  return encoding;
}

TEST(AdamOnADevice, UpdatesAsOnTheCpu) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    SmallModel on_cpu(encoding_called("alibi"), backend_on(at::kCPU, kernels));
    SmallModel on_device(encoding_called("alibi"), backend_on(fake_device(), kernels));
    for (std::int64_t step = 0; step < 3; ++step) {
      on_cpu.train(step);
      on_device.update_with(on_cpu.gradients(), step);
    }
    EXPECT_EQ("", difference(on_device.values().detach().to(at::kCPU), on_cpu.values().detach(), 1e-6));
  }
}

using Case = std::tuple<std::string, Kernels>;

class EveryEncodingOnADevice : public testing::TestWithParam<Case> {
 protected:
  std::string label_ = std::get<std::string>(GetParam());
  RunConfig config_ = small_config(label_);
  Kernels kernels_ = std::get<Kernels>(GetParam());
};

TEST_P(EveryEncodingOnADevice, TrainsAndEvaluatesToTheValuesOfTheCpu) {
  const SelftestCheck check = check_encoding({label_, config_.encoding}, backend_on(fake_device(), kernels_));
  EXPECT_EQ("", check.problem);
  EXPECT_LE(check.error, 1e-5);
}

// Of a step of two layers with replicas in lock-step; the host waits for none of it.
TEST_P(EveryEncodingOnADevice, StartsABoundedNumberOfOperationsAndNeverWaits) {
  SmallModel model(config_.encoding, backend_on(fake_device(), kernels_));
  model.train(0);
  reset_device_counts();
  model.train(1);
  const DeviceCounts counts = device_counts();
  EXPECT_EQ(0, counts.to_host);
  EXPECT_EQ(0, counts.scalars);
  const bool is_version_2 = config_.encoding.dape && config_.encoding.dape->taps() == 3;
  if (kernels_ == Kernels::kFused) {
    // The batch, and positions where each step draws its own: for the embedding, or for each layer's queries
    // and keys.
    EXPECT_LE(counts.to_device, config_.encoding.is_randomized() ? 1 + 2 * 2 : 2);
    EXPECT_EQ(0, counts.pageable);
    EXPECT_LE(counts.operations, is_version_2 ? 560 : 350);
  } else {
    // Masks of dropout in addition, which the host draws.
    EXPECT_LE(counts.pageable, 5);
    EXPECT_LE(counts.operations, is_version_2 ? 620 : 440);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncodingOnADevice,
                         testing::Combine(testing::ValuesIn(all_labels()),
                                          testing::Values(Kernels::kFused, Kernels::kReference)),
                         [](const auto& one) {
                           return std::get<std::string>(one.param) +
                                  (std::get<Kernels>(one.param) == Kernels::kFused ? "_fused" : "_reference");
                         });

TEST(FakeDevice, RefusesTensorsOfTwoDevices) {
  const at::Tensor here = at::ones({2});
  const at::Tensor there = at::ones({2}, at::TensorOptions().device(fake_device()));
  EXPECT_THROW(here + there, c10::Error);
  EXPECT_THROW(at::cat({there, here}), c10::Error);
  EXPECT_NO_THROW(there + at::scalar_tensor(1));
}

// The paper's encodings, operation by operation.
TEST(FusedStepOnADevice, OfThePapersEncodingsStartsFewOperations) {
  const std::map<std::string, std::int64_t> most{{"none", 141},  {"sin_cos", 142}, {"rope", 141},
                                                 {"alibi", 155}, {"kerple", 175},  {"dape_kerple", 211}};
  for (const auto& [label, operations] : most) {
    SmallModel model(encoding_called(label), backend_on(fake_device(), Kernels::kFused));
    model.train(0);
    reset_device_counts();
    model.train(1);
    EXPECT_LE(device_counts().operations, operations) << label;
  }
}

// What `che selftest` does on a GPU.
TEST(Selftest, FindsNothingWrongWithTheEmulatedKernels) {
  SelftestPlan plan;
  plan.tokens = {1, 2, 17};
  plan.batch = 2;
  plan.repeated_steps = 2;
  plan.timed_tokens = {2};
  plan.timed_replicas = {1};
  plan.timed_batch = plan.timed_calls = plan.timed_rounds = 1;
  const ScratchFolder scratch;
  const std::string json = (scratch.path() / "selftest.json").string();
  SelftestTarget target{
      .backend = backend_on(fake_device(), Kernels::kFused), .description = {}, .execution = {}};
  ASSERT_EQ(kCudaDone, che_cuda_kernels(kCudaAbiVersion)->describe_device(0, &target.description));
  testing::internal::CaptureStdout();
  EXPECT_EQ(0, report_selftest(target, plan, json));
  const std::string output = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(output.starts_with("emulated: compute capability 9.0")) << output;
  EXPECT_NE(std::string::npos, output.find(" passed, 0 failed\n")) << output;
  const auto report = nlohmann::json::parse(read_file(json));
  EXPECT_EQ(0, report.at("failed"));
  EXPECT_EQ(report.at("passed"), report.at("checks").size());
  EXPECT_GT(report.at("times").size(), 10U);
  for (const auto& time : report.at("times")) {
    EXPECT_EQ("", time.at("problem")) << time;
    EXPECT_GT(time.at("milliseconds").get<double>(), 0) << time;
  }
}

TEST(Selftest, FindsAKernelThatIsWrong) {
  static CudaKernels wrong = *che_cuda_kernels(kCudaAbiVersion);
  wrong.rotate = [](const CudaCall* call, const RotationInputs* in, float* out) {
    RotationInputs backwards = *in;
    backwards.backwards = !in->backwards;
    return che_cuda_kernels(kCudaAbiVersion)->rotate(call, &backwards, out);
  };
  use_cuda_kernels(fake_device().type(), wrong);
  SelftestPlan plan;
  plan.tokens = {3};
  plan.batch = 1;
  std::vector<std::string> failed;
  check_operations(backend_on(fake_device(), Kernels::kFused), plan, [&](const SelftestCheck& check) {
    if (!check.passed()) failed.push_back(check.name);
  });
  use_cuda_kernels(fake_device().type(), *che_cuda_kernels(kCudaAbiVersion));
  EXPECT_EQ(std::vector<std::string>{"rotation, 3 tokens, fp32"}, failed);
}

TEST(CudaKernelsOfADevice, ReportErrors) {
  static CudaKernels broken = *che_cuda_kernels(kCudaAbiVersion);
  broken.rotate = [](const CudaCall*, const RotationInputs*, float*) { return 101; };
  use_cuda_kernels(fake_device().type(), broken);
  const at::Tensor heads = at::ones({1, 1, 2, 1, 4}, at::TensorOptions().device(fake_device()));
  const at::Tensor table = at::ones({2, 2}, at::TensorOptions().device(fake_device()));
  try {
    rotate(heads, table, table, backend_on(fake_device(), Kernels::kFused));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ("rotation: CUDA error 101: invalid device ordinal", error.what());
  }
  use_cuda_kernels(fake_device().type(), *che_cuda_kernels(kCudaAbiVersion));
}

// Widths of heads that the kernels do not serve.
TEST(CudaKernelsOfADevice, LeaveOtherShapesToTheReference) {
  constexpr std::int64_t kWidth = 12;  // 6 a head.
  SmallModel on_cpu(encoding_called("alibi"), backend_on(at::kCPU, Kernels::kFused), kWidth);
  SmallModel on_device(encoding_called("alibi"), backend_on(fake_device(), Kernels::kFused), kWidth);
  EXPECT_EQ("", difference(on_device.train(0).to(at::kCPU), on_cpu.train(0), 1e-5));
}

RunConfig short_training() {
  RunConfig config = small_config("alibi");
  config.training = {.steps = 150, .batch_size = 2, .first_length = 2, .last_length = 3};
  config.log.every_steps = 70;
  return config;
}

TEST(TrainingOnADevice, WaitsAtTheEndOfARowOfMetricsAndAfter64Steps) {
  TrainingState state({short_training()}, backend_on(fake_device(), Kernels::kReference));
  std::vector<std::int64_t> steps;
  std::vector<std::size_t> told_together;
  reset_device_counts();
  train(state, [&](std::span<const MeasuredStep> made) {
    for (const MeasuredStep& one : made) steps.push_back(one.step);
    told_together.push_back(made.size());
    EXPECT_EQ(state.step, made.back().step) << "none is outstanding";
    return true;
  });
  std::vector<std::int64_t> all(150);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(all, steps);
  // A slow machine tells of steps after a second.
  EXPECT_GE(told_together.size(), 5U);
  EXPECT_LE(told_together.front(), 64U);
  EXPECT_EQ(static_cast<std::int64_t>(told_together.size()), device_counts().to_host);
}

TEST(TrainingOnADevice, MeasuresWhatTheCpuMeasures) {
  const auto losses = [](const at::Device& device) {
    TrainingState state({short_training()}, backend_on(device, Kernels::kReference));
    std::vector<double> all;
    train(state, [&](std::span<const MeasuredStep> made) {
      for (const MeasuredStep& one : made) all.push_back(one.result.loss[0]);
      return true;
    });
    return all;
  };
  const std::vector<double> expected = losses(at::kCPU);
  const std::vector<double> found = losses(fake_device());
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], found[i], 1e-4) << i;
}

TEST(FakeDevice, CountsCopiesAndValuesThatTheHostReads) {
  reset_device_counts();
  const at::Tensor there = at::ones({2}).to(fake_device());
  EXPECT_EQ(device_counts().to_device, 1);
  EXPECT_EQ(there.sum().item<float>(), 2);
  EXPECT_EQ(device_counts().scalars, 1);
  EXPECT_EQ(there.to(at::kCPU).sum().item<float>(), 2);
  EXPECT_EQ(device_counts().to_host, 1);
  EXPECT_GT(device_counts().operations, 0);
}

}  // namespace
}  // namespace che
