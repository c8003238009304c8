// Adam's kernels on the emulated GPU against the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/kernel_table.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

// Of the largest value, or of 1.
constexpr double kBound = 1e-6;

Results norms_on_the_cpu(std::int64_t replicas, std::int64_t size, const std::vector<float>& gradients) {
  return on_the_cpu({{"norms", unwritten(replicas)}}, kBound, [&](const KernelCall& call, Results& results) {
    cpu_kernels().adam.norms(call, replicas, size, gradients.data(), results[0].values.data());
  });
}

Results norms_on_the_gpu(std::int64_t replicas, std::int64_t size, const std::vector<float>& gradients) {
  return in_every_schedule({{"norms", unwritten(replicas)}}, [&](const KernelCall& call, Results& results) {
    return cuda_kernels().adam.norms(call, replicas, size, gradients.data(), results[0].values.data());
  });
}

TEST(AdamKernel, TakesNorms) {
  for (const std::int64_t size : {1, 255, 8192, 20000}) {
    const std::vector<float> gradients = some_values(3 * size, 1);
    expect_near(norms_on_the_cpu(3, size, gradients), norms_on_the_gpu(3, size, gradients), kBound);
  }
  EXPECT_EQ(0.0F, norms_on_the_gpu(1, 0, {})[0].values[0]);
}

TEST(AdamKernel, ANormOfNoNumberIsNone) {
  std::vector<float> gradients = some_values(2 * 100, 1);
  gradients[150] = NAN;
  const Results got = norms_on_the_gpu(2, 100, gradients);
  EXPECT_FALSE(std::isnan(got[0].values[0]));
  EXPECT_TRUE(std::isnan(got[0].values[1]));
}

// Replica 0 is clipped, replica 1 is not, replica 2 has a norm of no number.
TEST(AdamKernel, UpdatesAsTheCpu) {
  constexpr std::int64_t kReplicas = 3;
  for (const std::int64_t size : {5, 9001}) {
    const std::vector<float> gradients = some_values(kReplicas * size, 1);
    const std::vector<float> rates = {1e-3F, 3e-4F, 1e-3F};
    const std::vector<float> norms = {10, 0.5, NAN};
    const AdamSettings settings{.clip_norm = 1.5, .rate_fraction = 0.7, .updates = 13};
    constexpr std::int64_t kGap = 3;  // Between the values of two replicas.
    const auto operands = [&](Results& results) -> AdamOperands {
      return {.replicas = kReplicas,
              .size = size,
              .value_stride = size + kGap,
              .learning_rates = rates.data(),
              .norms = norms.data(),
              .gradients = gradients.data(),
              .first_moment = results[0].values.data(),
              .second_moment = results[1].values.data(),
              .values = results[2].values.data()};
    };
    std::vector<float> squares = some_values(kReplicas * size, 3, 0.1F);
    for (float& square : squares) square *= square;
    const Results before = {{"first_moment", some_values(kReplicas * size, 2, 0.1F)},
                            {"second_moment", squares},
                            {"values", some_values(kReplicas * (size + kGap), 4)}};
    const Results expected = on_the_cpu(before, kBound, [&](const KernelCall& call, Results& results) {
      cpu_kernels().adam.update(call, operands(results), settings);
    });
    const Results got = in_every_schedule(before, [&](const KernelCall& call, Results& results) {
      const AdamOperands of_results = operands(results);
      return cuda_kernels().adam.update(call, of_results, settings);
    });
    expect_near(expected, got, kBound);
    EXPECT_TRUE(std::isnan(got[2].values[static_cast<std::size_t>(kReplicas * (size + kGap) - kGap - 1)]));
    EXPECT_FALSE(std::isnan(got[2].values[0]));
    // The step in memory counts, whatever the settings say: the same bits.
    const GpuStep step = gpu_step(0, settings);
    const AdamSettings of_another_step{.clip_norm = 1.5, .rate_fraction = 0.1, .updates = 2};
    const Results replayed = in_every_schedule(before, [&](const KernelCall& call, Results& results) {
      const AdamOperands of_results = operands(results);
      KernelCall of_step = call;
      of_step.step = &step;
      return cuda_kernels().adam.update(of_step, of_results, of_another_step);
    });
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(0, std::memcmp(got[i].values.data(), replayed[i].values.data(),
                               got[i].values.size() * sizeof(float)))
          << got[i].name;
    }
  }
}

TEST(AdamKernel, SaysWhatItDoesNotServe) {
  const KernelCall call{};
  EXPECT_EQ(kKernelNotServed, cuda_kernels().adam.norms(call, 65536, 1, nullptr, nullptr));
  EXPECT_EQ(kKernelDone, cuda_kernels().adam.norms(call, 0, 1, nullptr, nullptr));
  AdamOperands operands{};
  const AdamSettings settings;
  EXPECT_EQ(kKernelDone, cuda_kernels().adam.update(call, operands, settings));
  operands.replicas = 65536;
  EXPECT_EQ(kKernelNotServed, cuda_kernels().adam.update(call, operands, settings));
}

}  // namespace
}  // namespace che
