// Rotation's kernel on the emulated GPU against the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/ops/device/kernel_table.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

constexpr double kBound = 1e-6;  // Of the largest value.

TEST(RotationKernel, TurnsAsTheCpu) {
  for (const RotationInputs& shape : {RotationInputs{3, 5, 8, 32, nullptr, nullptr, nullptr, false},
                                      RotationInputs{1, 1, 1, 2, nullptr, nullptr, nullptr, false},
                                      RotationInputs{2, 7, 3, 6, nullptr, nullptr, nullptr, true}}) {
    const std::int64_t size = shape.examples * shape.tokens * shape.heads * shape.head_width;
    const std::vector<float> values = some_values(size, 1);
    std::vector<float> sine = some_values(shape.tokens * shape.head_width / 2, 2);
    std::vector<float> cosine = sine;
    for (float& angle : sine) angle = std::sin(angle);
    for (float& angle : cosine) angle = std::cos(angle);
    RotationInputs in = shape;
    in.values = values.data();
    in.sine = sine.data();
    in.cosine = cosine.data();
    const Results fresh = {{"out", unwritten(size)}};
    const Results expected = on_the_cpu(fresh, kBound, [&](const KernelCall& call, Results& results) {
      cpu_kernels().rotation.rotate(call, in, results[0].values.data());
    });
    expect_near(expected,
                in_every_schedule(fresh,
                                  [&](const KernelCall& call, Results& results) {
                                    return cuda_kernels().rotation.rotate(call, in, results[0].values.data());
                                  }),
                kBound);
  }
}

TEST(RotationKernel, DoesNothingForNoValues) {
  const KernelCall call{};
  const RotationInputs in{};
  EXPECT_EQ(kKernelDone, cuda_kernels().rotation.rotate(call, in, nullptr));
}

}  // namespace
}  // namespace che
