// The dropout kernel on the emulated GPU against the CPU's: the same bits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/kernel_table.h"
#include "models/ops/dropout/dropout_mask.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

struct Case {
  std::int64_t replicas, batch, rows, width;
  double rate = 0.1;
  std::int64_t first_token = 0;
};

class DropoutKernel : public testing::TestWithParam<Case> {};

TEST_P(DropoutKernel, DropsWhatTheCpuDrops) {
  const Case c = GetParam();
  const std::int64_t size = c.replicas * c.batch * c.rows * c.width;
  Dropout dropout{.rate = c.rate, .seeds = {}, .purpose = Purpose::kDropout, .step = 77, .first_example = 5};
  for (std::int64_t r = 0; r < c.replicas; ++r) dropout.seeds.push_back(0x123456789abcdef + r);
  const std::vector<float> values = some_values(size, 1);
  const DropoutKeys keys({dropout, 3, c.first_token});
  const DropoutInputs in{.replicas = c.replicas,
                         .batch = c.batch,
                         .rows = c.rows,
                         .width = c.width,
                         .values = values.data(),
                         .draws = keys.draws()};
  const std::vector<float> expected =
      on_the_cpu({{"out", unwritten(size)}}, 0,
                 [&](const KernelCall& call, Results& results) {
                   cpu_kernels().dropout.apply(call, in, results[0].values.data());
                 })[0]
          .values;
  const auto on_the_gpu = [&](const DropoutInputs& inputs, const GpuStep* step) {
    return in_every_schedule({{"out", unwritten(size)}}, [&](const KernelCall& call, Results& results) {
      KernelCall of_step = call;
      of_step.step = step;
      return cuda_kernels().dropout.apply(of_step, inputs, results[0].values.data());
    });
  };
  EXPECT_EQ(expected, on_the_gpu(in, nullptr)[0].values);
  // The step's number in memory counts, whatever the inputs say.
  Dropout of_another_step = dropout;
  of_another_step.step = 78;
  const DropoutKeys other_keys({of_another_step, 3, c.first_token});
  DropoutInputs replayed = in;
  replayed.draws = other_keys.draws();
  const GpuStep step = gpu_step(77, {});
  EXPECT_EQ(expected, on_the_gpu(replayed, &step)[0].values);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DropoutKernel,
                         testing::Values(Case{1, 1, 1, 1}, Case{1, 2, 3, 8}, Case{2, 3, 5, 7, 0.5},
                                         Case{2, 2, 40, 64, 0.1, 3}, Case{3, 1, 2, 5, 0.9, 1},
                                         Case{1, 1, 300, 10, 0.25, 2}));

TEST(DropoutKernel, ServesUpTo64Replicas) {
  EXPECT_TRUE(cuda_kernels().dropout.serves(64, 65535));
  EXPECT_FALSE(cuda_kernels().dropout.serves(65, 1));
  EXPECT_FALSE(cuda_kernels().dropout.serves(1, 65536));
}

TEST(DropoutKernel, HasNothingToDoForNoExamples) {
  const DropoutInputs empty{};
  const KernelCall call{};
  EXPECT_EQ(kKernelDone, cuda_kernels().dropout.apply(call, empty, nullptr));
}

}  // namespace
}  // namespace che
