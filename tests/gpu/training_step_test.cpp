// A training step and an evaluation of every encoding on a device that is not the CPU: the same values, no
// mixture of devices, and how often the host waits.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/learn/training.h"
#include "experiments/measure/device_check.h"
#include "experiments/measure/small_model.h"
#include "models/ops/device/cuda_library.h"
#include "models/ops/rotation/rotation.h"
#include "tests/contains.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/message_of.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

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
  NamedEncoding encoding_{label_, config_.encoding, config_.model.kind, config_.model.shape().block};
  Kernels kernels_ = std::get<Kernels>(GetParam());
};

// Every parameter's gradient by its own size.
TEST_P(EveryEncodingOnADevice, PassesTheSelftest) {
  const auto check = std::get<SelftestCheck>(
      check_encoding(encoding_, backend_on(fake_device(), kernels_), GpuPrecision::kFp32).run());
  EXPECT_EQ("", check.problem);
  EXPECT_LE(check.error, 1e-5);
}

// Both sides round the same operands, but for those that differ in a last bit.
TEST_P(EveryEncodingOnADevice, RoundsWhatTheCpuRounds) {
  Backend device = backend_on(fake_device(), kernels_);
  device.operands = Operands::kBf16;
  const DeviceTest test = check_encoding(encoding_, device, GpuPrecision::kFp32);
  EXPECT_EQ("training step, " + label_ + ", bf16", test.name);
  reset_device_counts();
  const auto check = std::get<SelftestCheck>(test.run());
  EXPECT_EQ("", check.problem);
  EXPECT_LE(check.error, 1e-2);
  EXPECT_GT(device_counts().rounded, 0);
}

// Operations of LibTorch that a step of two layers starts, beside the kernels: of an encoding, of DAPE around
// it and of DAPE V2. Measured, and none to spare.
struct StepBounds {
  std::int64_t plain, dape = 0, dape_v2 = 0;
};

std::int64_t operations_of(const NamedEncoding& named, Kernels kernels) {
  const EncodingConfig& encoding = named.config;
  static const std::map<std::string, StepBounds> fused{
      {"none", {82, 94, 270}},     {"sin_cos", {83}},
      {"learned", {88}},           {"rope", {82}},
      {"relative", {184}},         {"cope", {282}},
      {"alibi", {96, 112, 343}},   {"kerple", {112, 132, 395}},
      {"fire", {197, 217, 474}},   {"t5", {101, 121, 374}},
      {"sandwich", {88, 104, 343}}};
  static const std::map<std::string, StepBounds> reference{{"none", {205, 237, 347}},
                                                           {"sin_cos", {202}},
                                                           {"learned", {207}},
                                                           {"rope", {279}},
                                                           {"relative", {261}},
                                                           {"cope", {359}},
                                                           {"alibi", {217, 268, 420}},
                                                           {"kerple", {249, 304, 472}},
                                                           {"fire", {325, 380, 551}},
                                                           {"t5", {230, 285, 451}},
                                                           {"sandwich", {215, 266, 420}},
                                                           {"selective_rope", {501}}};
  const auto& bounds = kernels == Kernels::kFused ? fused : reference;
  const auto found = bounds.find(encoding.name);
  // An encoding that is not listed has room.
  const StepBounds of = found == bounds.end() ? StepBounds{400, 462, 634} : found->second;
  const bool is_version_2 = encoding.dape && encoding.dape->taps() == 3;
  // Distances to one side; and where attention is composed, the mask and what marks later NaN.
  const bool is_composed = kernels == Kernels::kReference || encoding.name == "relative";
  const std::int64_t of_mask = named.model != "decoder" ? 0 : is_version_2 ? 43 : is_composed ? 30 : 14;
  const std::int64_t of_scale = encoding.attention_scale == AttentionScale::kSqrtD ? 0 : 22;
  // Biases of q, k and v, GELU and one more norm.
  const std::int64_t of_block = named.block == BlockForm::kPostNorm ? 0
                                : kernels == Kernels::kFused        ? 16
                                                                    : 24;
  const std::int64_t others = of_mask + of_scale + of_block;
  if (!encoding.dape) return of.plain + others;
  return (is_version_2 ? of.dape_v2 : of.dape) + others;
}

TEST_P(EveryEncodingOnADevice, StartsABoundedNumberOfOperationsAndNeverWaits) {
  SmallModel model(encoding_, backend_on(fake_device(), kernels_));
  model.train(0);
  reset_device_counts();
  model.train(1);
  const DeviceCounts counts = device_counts();
  EXPECT_EQ(0, counts.to_host);
  EXPECT_EQ(0, counts.scalars);
  RecordProperty("operations", static_cast<int>(counts.operations));
  EXPECT_LE(counts.operations, operations_of(encoding_, kernels_));
  // The batch, and positions where each step draws its own: for the embedding, or for each layer's queries
  // and keys.
  const std::int64_t copies = config_.encoding.is_randomized() ? 1 + 2 * 2 : 1;
  if (kernels_ == Kernels::kFused) {
    EXPECT_LE(counts.to_device, copies);
  } else {
    // Masks of dropout in addition, which the host draws: two a layer, and the embedding's.
    EXPECT_LE(counts.to_device, copies + 5);
  }
  EXPECT_EQ(0, counts.pageable);
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

TEST(CudaKernelsOfADevice, ReportErrors) {
  KernelTable broken = emulated_kernels();
  broken.rotation.rotate = [](const KernelCall&, const RotationInputs&, float*) { return 101; };
  const OtherKernels others(broken);
  const at::Tensor heads = at::ones({1, 1, 2, 1, 4}, at::TensorOptions().device(fake_device()));
  const at::Tensor table = at::ones({2, 2}, at::TensorOptions().device(fake_device()));
  EXPECT_EQ("rotation: CUDA error 101: invalid device ordinal",
            message_of([&] { rotate(heads, table, table, backend_on(fake_device(), Kernels::kFused)); }));
}

// Widths of heads that the kernels do not serve.
TEST(CudaKernelsOfADevice, LeaveOtherShapesToTheReference) {
  constexpr std::int64_t kWidth = 12;  // 6 a head.
  SmallModel on_cpu(encoding_called("alibi"), backend_on(at::kCPU, Kernels::kFused), kWidth);
  SmallModel on_device(encoding_called("alibi"), backend_on(fake_device(), Kernels::kFused), kWidth);
  EXPECT_EQ("", difference(on_device.train(0).to(at::kCPU), on_cpu.train(0), 1e-5));
}

TEST(Numerics, HaveAFixedOrderOfSumsAndFillNothing) {
  set_up_numerics();
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().deterministicFillUninitializedMemory());
  at::globalContext().setDeterministicAlgorithms(false, false);
}

TEST(CudaLibrary, ThatCannotBeUsedIsNamedWithARemedy) {
  expect_contains(message_of([] { open_cuda_library("/nowhere/libche_cuda.so"); }),
                  {"/nowhere/libche_cuda.so", "scripts/setup.sh cuda"});
  expect_contains(message_of([] { open_cuda_library(CHE_OTHER_KERNELS); }), {"does not have version"});
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
