#include "models/ops/device/step_uploads.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/message_of.h"

namespace che {
namespace {

const at::TensorOptions kThere = at::TensorOptions().dtype(at::kFloat).device(fake_device());
const Backend kBackend = backend_on(fake_device(), Kernels::kFused);

std::vector<float> values_of(const at::Tensor& x) {
  const at::Tensor here = x.to(at::kCPU, at::kFloat).contiguous();
  return {here.const_data_ptr<float>(), here.const_data_ptr<float>() + here.numel()};
}

TEST(UploadEachStep, IsAnUploadWhereNothingIsRecorded) {
  reset_device_counts();
  const at::Tensor x = upload_each_step(
      kBackend,
      [] {
        return at::tensor({1, 2}, at::kLong);
      },
      kThere);
  EXPECT_EQ(fake_device(), x.device());
  EXPECT_EQ(at::kFloat, x.scalar_type());
  EXPECT_EQ((std::vector<float>{1, 2}), values_of(x));
  EXPECT_EQ(1, device_counts().to_device);
  EXPECT_EQ(0, device_counts().pageable);
}

TEST(StepUploads, GoOnAfterATableThatFails) {
  StepUploads uploads;
  const StepUploads::Recording recording(uploads, *kBackend.gpu);
  const auto fails = []() -> at::Tensor { throw Error("no table"); };
  EXPECT_EQ("no table", message_of([&] { kept_for_steps(kBackend, fails); }));
  EXPECT_EQ(&uploads, kBackend.gpu->recording);
}

TEST(StepUploads, GiveEachStepItsOwnValuesInTheSameMemory) {
  std::int64_t number = 1;
  int tables = 0;
  const auto step = [&] {
    const at::Tensor row = upload_each_step(
        kBackend,
        [&] {
          return at::arange(3, at::kLong).mul(number).view({3, 1});
        },
        kThere);
    const at::Tensor table = kept_for_steps(kBackend, [&] { return at::full({2}, ++tables, kThere); });
    const at::Tensor bytes = upload_each_step(
        kBackend, [&] { return at::full({5}, number); }, kThere.dtype(at::kByte));
    return std::vector<at::Tensor>{row, table, bytes};
  };
  const auto expect_step = [&](const std::vector<at::Tensor>& found) {
    const auto n = static_cast<float>(number);
    EXPECT_EQ((std::vector<std::int64_t>{3, 1}), found[0].sizes().vec());
    EXPECT_EQ((std::vector<float>{0, n, 2 * n}), values_of(found[0]));
    EXPECT_EQ((std::vector<float>{1, 1}), values_of(found[1]));
    EXPECT_EQ(at::kByte, found[2].scalar_type());
    EXPECT_EQ(std::vector<float>(5, n), values_of(found[2]));
  };
  StepUploads uploads;
  {
    const StepUploads::Recording recording(uploads, *emulated_gpu());
    expect_step(step());
  }
  uploads.allocate(fake_device());
  std::vector<at::Tensor> replayed;
  {
    const StepUploads::Recording recording(uploads, *emulated_gpu());
    replayed = step();
  }
  for (number = 2; number < 5; ++number) {
    reset_device_counts();
    uploads.fill();
    EXPECT_EQ(1, device_counts().to_device);
    EXPECT_EQ(0, device_counts().pageable);
    expect_step(replayed);
  }
  EXPECT_EQ(1, tables);
  // What is no part of it is recorded no more.
  EXPECT_NE(replayed[0].data_ptr(), step()[0].data_ptr());
  EXPECT_EQ(2, tables);
}

TEST(StepUploads, RefuseAStepThatCopiesSomethingElse) {
  std::int64_t length = 2;
  const auto row = [&] {
    return upload_each_step(
        kBackend, [&] { return at::ones({length}); }, kThere);
  };
  const auto table = [&] { return kept_for_steps(kBackend, [&] { return at::ones({2}, kThere); }); };
  StepUploads uploads;
  {
    const StepUploads::Recording recording(uploads, *emulated_gpu());
    row();
    table();
  }
  uploads.allocate(fake_device());
  const StepUploads::Recording recording(uploads, *emulated_gpu());
  row();
  table();
  EXPECT_EQ("a training step copies more to the device than the first of its shape",
            message_of([&] { row(); }));
  EXPECT_EQ("a training step reads more tables than the first of its shape", message_of([&] { table(); }));
  length = 3;
  EXPECT_EQ("a training step copies tensors of another shape than the first",
            message_of([&] { uploads.fill(); }));
}

}  // namespace
}  // namespace che
