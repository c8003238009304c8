// The residual norm's kernels on the emulated GPU against the CPU's, whose dropout draws the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/kernel_table.h"
#include "models/ops/dropout/dropout_mask.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

// Of the largest value, or of 1.
constexpr double kBound = 2e-5;

constexpr std::uint64_t kStep = 77;

// By how many values parameters are not aligned: they follow each other in one tensor.
constexpr std::int64_t kShift = 2;

struct Case {
  std::int64_t replicas, batch, rows, width;
  double rate = 0;
  std::int64_t first_token = 0;
  bool has_bias = true;
};

class Operands {
 public:
  explicit Operands(const Case& c, std::uint64_t step = kStep)
      : case_(c),
        dropout_{.rate = c.rate, .seeds = {}, .purpose = Purpose::kDropout, .step = step, .first_example = 5},
        x_(some_values(size(), 1)),
        y_(some_values(size(), 2)),
        y_bias_(some_values(kShift + features(), 3)),
        scale_(some_values(kShift + features(), 4)),
        offset_(some_values(kShift + features(), 5)),
        d_out_(some_values(size(), 6)) {
    for (std::int64_t r = 0; r < c.replicas; ++r) dropout_.seeds.push_back(0x123456789abcdef + r);
    keys_ = DropoutKeys({dropout_, 3, c.first_token});
  }

  std::int64_t size() const { return case_.replicas * case_.batch * case_.rows * case_.width; }
  std::int64_t features() const { return case_.replicas * case_.width; }
  std::int64_t moments() const { return case_.replicas * case_.batch * case_.rows * 2; }

  template <class Value>
  ExampleView<Value> view(Value* data, std::int64_t width) const {
    return {data, case_.batch * case_.rows * width, case_.rows * width};
  }
  template <class Value>
  ExampleView<Value> view(Value* data) const {
    return view(data, case_.width);
  }
  template <class Value>
  ExampleView<Value> moments_view(Value* data) const {
    return view(data, 2);
  }

  ResidualNormInputs inputs() const {
    return {.replicas = case_.replicas,
            .batch = case_.batch,
            .rows = case_.rows,
            .width = case_.width,
            .x = view(x_.data()),
            .y = view(y_.data()),
            .y_bias = case_.has_bias ? y_bias_.data() + kShift : nullptr,
            .scale = scale_.data() + kShift,
            .offset = offset_.data(),
            .draws = keys_.draws(),
            .epsilon = 1e-5F};
  }

  const Dropout& dropout() const { return dropout_; }

  ExampleView<const float> d_out() const { return view(d_out_.data()); }
  const std::vector<float>& x() const { return x_; }

 private:
  Case case_;
  Dropout dropout_;
  DropoutKeys keys_{{dropout_, 3, 0}};
  std::vector<float> x_, y_, y_bias_, scale_, offset_, d_out_;
};

class ResidualNorm : public testing::TestWithParam<Case> {};

TEST_P(ResidualNorm, ForwardIsTheCpus) {
  const Operands operands(GetParam());
  const Results fresh = {{"out", unwritten(operands.size())},
                         {"moments", unwritten(operands.moments())},
                         {"sum", unwritten(operands.size())}};
  ResidualNormInputs in = operands.inputs();
  const Results expected = on_the_cpu(fresh, kBound, [&](const KernelCall& call, Results& results) {
    in.sum = operands.view(results[2].values.data());
    cpu_kernels().residual_norm.forward(call, in, operands.view(results[0].values.data()),
                                        operands.moments_view(results[1].values.data()));
  });
  const Results got = in_every_schedule(fresh, [&](const KernelCall& call, Results& results) {
    const ExampleView<float> out = operands.view(results[0].values.data());
    const ExampleView<float> moments = operands.moments_view(results[1].values.data());
    in.sum = operands.view(results[2].values.data());
    return cuda_kernels().residual_norm.forward(call, in, out, moments);
  });
  expect_near(expected, got, kBound);
}

TEST_P(ResidualNorm, BackwardIsTheCpus) {
  const Operands operands(GetParam());
  std::vector<float> out = unwritten(operands.size());
  std::vector<float> kept = unwritten(operands.moments());
  const Results fresh = {{"d_x", unwritten(operands.size())},
                         {"d_y", unwritten(operands.size())},
                         {"d_y_bias", unwritten(operands.features())},
                         {"d_scale", unwritten(operands.features())},
                         {"d_offset", unwritten(operands.features())}};
  const auto gradients_of = [&](Results& results) {
    const auto data = [&](std::size_t i) { return results[i].values.data(); };
    return ResidualNormGradients{.d_x = operands.view(data(0)),
                                 .d_y = operands.view(data(1)),
                                 .d_y_bias = data(2),
                                 .d_scale = data(3),
                                 .d_offset = data(4)};
  };
  const ExampleView<const float> moments = operands.moments_view<const float>(kept.data());
  ResidualNormInputs in = operands.inputs();
  // The gradient of the sum, which half of the shapes have.
  if (GetParam().rows % 2 == 1) in.d_sum = operands.view(operands.x().data());
  const ExampleView<const float> d_out = operands.d_out();
  const Results expected = on_the_cpu(fresh, kBound, [&](const KernelCall& call, Results& results) {
    const ResidualNormKernels& form = cpu_kernels().residual_norm;
    form.forward(call, in, operands.view(out.data()), operands.moments_view(kept.data()));
    form.backward(call, in, moments, d_out, gradients_of(results));
  });
  const Results got = in_every_schedule(fresh, [&](const KernelCall& call, Results& results) {
    const ResidualNormGradients gradients = gradients_of(results);
    return cuda_kernels().residual_norm.backward(call, in, moments, d_out, gradients);
  });
  expect_near(expected, got, kBound);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ResidualNorm,
                         testing::Values(Case{1, 1, 1, 8}, Case{2, 3, 5, 256, 0.1}, Case{1, 2, 9, 72, 0.5, 3},
                                         Case{2, 2, 3, 264, 0.1, 2, false}, Case{1, 5, 27, 16, 0.1},
                                         Case{1, 1, 2, 2048, 0.25, 1}, Case{2, 41, 51, 8, 0.1, 1},
                                         Case{1, 1, 4, 520, 0.1, 1}),
                         [](const auto& c) {
                           return "w" + std::to_string(c.param.width) + "_rows" +
                                  std::to_string(c.param.rows);
                         });

// What is dropped, bit by bit: y is 0 there, and 1 / (1 - rate) elsewhere. The gradient of y has its zeros.
TEST(ResidualNormKernel, DropsWhatTheCpuDrops) {
  for (const std::int64_t width : {8, 24}) {
    const Operands operands(
        {.replicas = 2, .batch = 2, .rows = 70, .width = width, .rate = 0.3, .first_token = 5});
    const ResidualNormInputs in = operands.inputs();
    std::vector<float> out = unwritten(operands.size());
    std::vector<float> kept = unwritten(operands.moments());
    std::vector<float> d_x = out, d_y = out;
    std::vector<float> of_features = unwritten(3 * operands.features());
    const ExampleView<float> out_view = operands.view(out.data());
    const ExampleView<float> moments = operands.moments_view(kept.data());
    const ExampleView<const float> const_moments = operands.moments_view<const float>(kept.data());
    const ExampleView<const float> d_out = operands.d_out();
    const ResidualNormGradients gradients{.d_x = operands.view(d_x.data()),
                                          .d_y = operands.view(d_y.data()),
                                          .d_y_bias = of_features.data(),
                                          .d_scale = of_features.data() + operands.features(),
                                          .d_offset = of_features.data() + 2 * operands.features()};
    CallWithMemory with_memory;
    const KernelCall& call = with_memory.call;
    ASSERT_EQ(kKernelDone, cuda_kernels().residual_norm.forward(call, in, out_view, moments));
    ASSERT_EQ(kKernelDone, cuda_kernels().residual_norm.backward(call, in, const_moments, d_out, gradients));
    // The step's number in memory counts, whatever the inputs say: the same bits.
    const std::vector<float> out_of_step = out;
    const std::vector<float> d_y_of_step = d_y;
    const GpuStep step = gpu_step(kStep, {});
    KernelCall replayed = call;
    replayed.step = &step;
    const Operands of_another_step(
        {.replicas = 2, .batch = 2, .rows = 70, .width = width, .rate = 0.3, .first_token = 5}, kStep + 1);
    const ResidualNormInputs others = of_another_step.inputs();
    std::ranges::fill(out, 0.0F);
    std::ranges::fill(d_y, 0.0F);
    ASSERT_EQ(kKernelDone, cuda_kernels().residual_norm.forward(replayed, others, out_view, moments));
    ASSERT_EQ(kKernelDone,
              cuda_kernels().residual_norm.backward(replayed, others, const_moments, d_out, gradients));
    EXPECT_EQ(out_of_step, out);
    EXPECT_EQ(d_y_of_step, d_y);
    std::int64_t dropped = 0;
    for (std::int64_t r = 0; r < 2; ++r) {
      for (std::int64_t b = 0; b < 2; ++b) {
        std::vector<float> factors(static_cast<std::size_t>(70 * width));
        dropout_factors(in.draws.bits(r, b), static_cast<std::uint64_t>(5 * width), factors);
        for (std::int64_t i = 0; i < 70 * width; ++i) {
          const auto at = static_cast<std::size_t>((r * 2 + b) * 70 * width + i);
          EXPECT_EQ(d_x[at] * factors[static_cast<std::size_t>(i)], d_y[at]);
          if (factors[static_cast<std::size_t>(i)] == 0) ++dropped;
        }
      }
    }
    EXPECT_NEAR(0.3, static_cast<double>(dropped) / static_cast<double>(operands.size()), 0.05);
  }
}

TEST(ResidualNormKernel, SaysWhatItDoesNotServe) {
  const ResidualNormKernels& kernels = cuda_kernels().residual_norm;
  const KernelCall call{};
  ResidualNormInputs in{};
  in.replicas = in.batch = in.rows = 1;
  for (const std::int64_t width : {0, 12, 2056}) {
    in.width = width;
    EXPECT_EQ(kKernelNotServed, kernels.forward(call, in, {}, {}));
    EXPECT_EQ(kKernelNotServed, kernels.backward(call, in, {}, {}, {}));
  }
  in.width = 8;
  in.replicas = 65;
  in.draws.first.threshold = 1;
  EXPECT_EQ(kKernelNotServed, kernels.forward(call, in, {}, {}));
  in.rows = 0;
  in.draws.first.threshold = 0;
  EXPECT_EQ(kKernelDone, kernels.forward(call, in, {}, {}));
}

}  // namespace
}  // namespace che
