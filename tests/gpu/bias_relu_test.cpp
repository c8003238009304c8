// The kernels of bias and ReLU on the emulated GPU against the CPU's.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/ops/device/kernel_table.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

constexpr double kBound = 1e-6;  // Of the largest value; of sums over rows too.

struct Shape {
  std::int64_t replicas, rows, width;
};

// Replicas have room for a row more.
std::int64_t stride_of(const Shape& shape) { return (shape.rows + 1) * shape.width; }

HiddenRows rows_of(const Shape& shape, float* data) {
  return {.replicas = shape.replicas,
          .rows = shape.rows,
          .width = shape.width,
          .data = data,
          .replica_stride = stride_of(shape)};
}

constexpr Shape kShapes[] = {{1, 1, 1}, {2, 70, 33}, {1, 300, 257}};

TEST(BiasReluKernel, ForwardIsTheCpus) {
  for (const Shape& shape : kShapes) {
    const std::vector<float> bias = some_values(shape.replicas * shape.width, 2);
    Results values = {{"values", some_values(shape.replicas * stride_of(shape), 1)}};
    values[0].values[0] = NAN;
    const Results expected = on_the_cpu(values, 0, [&](const KernelCall& call, Results& results) {
      cpu_kernels().bias_relu.forward(call, rows_of(shape, results[0].values.data()), bias.data());
    });
    const Results got = in_every_schedule(values, [&](const KernelCall& call, Results& results) {
      const HiddenRows rows = rows_of(shape, results[0].values.data());
      return cuda_kernels().bias_relu.forward(call, rows, bias.data());
    });
    expect_near(expected, got, 0);
    EXPECT_TRUE(std::isnan(got[0].values[0]));
  }
}

// What is there is added to, so that the rows of a batch can come block by block.
std::vector<float> summed(const Shape& shape, const std::vector<float>& sums, std::int64_t parts) {
  std::vector<float> total(static_cast<std::size_t>(shape.replicas * shape.width));
  for (std::int64_t r = 0; r < shape.replicas; ++r) {
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t c = 0; c < shape.width; ++c) {
        total[static_cast<std::size_t>(r * shape.width + c)] +=
            sums[static_cast<std::size_t>((r * parts + part) * shape.width + c)];
      }
    }
  }
  return total;
}

TEST(BiasReluKernel, BackwardIsTheCpus) {
  for (const Shape& shape : kShapes) {
    std::vector<float> activation = some_values(shape.replicas * stride_of(shape), 1);
    const std::vector<float> gradient = some_values(shape.replicas * stride_of(shape), 2);
    const BiasReluKernels& cpu = cpu_kernels().bias_relu;
    const std::int64_t parts = cuda_kernels().bias_relu.partial_sums;
    const auto fresh = [&](std::int64_t sums) -> Results {
      return {{"gradient", gradient},
              {"d_bias",
               std::vector<float>(static_cast<std::size_t>(shape.replicas * sums * shape.width), 0.5F)}};
    };
    Results expected =
        on_the_cpu(fresh(cpu.partial_sums), kBound, [&](const KernelCall& call, Results& results) {
          cpu.backward(call, rows_of(shape, results[0].values.data()), rows_of(shape, activation.data()),
                       results[1].values.data());
        });
    Results got = in_every_schedule(fresh(parts), [&](const KernelCall& call, Results& results) {
      const HiddenRows of_gradient = rows_of(shape, results[0].values.data());
      const HiddenRows of_activation = rows_of(shape, activation.data());
      return cuda_kernels().bias_relu.backward(call, of_gradient, of_activation, results[1].values.data());
    });
    expected[1].values = summed(shape, expected[1].values, cpu.partial_sums);
    got[1].values = summed(shape, got[1].values, parts);
    const auto more = 0.5F * static_cast<float>(parts - cpu.partial_sums);
    for (float& sum : expected[1].values) sum += more;
    expect_near(expected, got, kBound);
  }
}

TEST(BiasReluKernel, SaysWhatItDoesNotServe) {
  const KernelCall call{};
  const HiddenRows rows = rows_of({65536, 1, 1}, nullptr);
  EXPECT_EQ(kKernelNotServed, cuda_kernels().bias_relu.forward(call, rows, nullptr));
  EXPECT_EQ(kKernelNotServed, cuda_kernels().bias_relu.backward(call, rows, rows, nullptr));
  const HiddenRows none = rows_of({1, 0, 1}, nullptr);
  EXPECT_EQ(kKernelDone, cuda_kernels().bias_relu.forward(call, none, nullptr));
  EXPECT_EQ(kKernelDone, cuda_kernels().bias_relu.backward(call, none, none, nullptr));
}

}  // namespace
}  // namespace che
