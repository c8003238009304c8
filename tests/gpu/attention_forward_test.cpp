// Attention's forward kernel on the emulated GPU against the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/ops/device/kernel_table.h"
#include "tests/gpu/attention_rig.h"
#include "tests/gpu/emulated_gpu.h"
#include "tests/gpu/kernel_rig.h"
#include "tests/gpu/race_reports.h"

namespace che {
namespace {

// Of results, which are means of values of deviation 1.
constexpr double kBound = 2e-5;
constexpr double kTf32Bound = 2e-2;

Results expected_of(const AttentionOperands& operands) {
  return on_the_cpu({{"out", unwritten(operands.out_size())}}, kBound,
                    [&](const KernelCall& call, Results& results) {
                      cpu_kernels().attention.forward(call, operands.inputs(),
                                                      operands.out_view(results[0].values.data()), nullptr);
                    });
}

int run(const KernelCall& call, const AttentionOperands& operands, Results& results) {
  const AttentionInputs in = operands.inputs();
  const ExampleView<float> out = operands.out_view(results[0].values.data());
  return cuda_kernels().attention.forward(call, in, out, nullptr);
}

Results got_of(const AttentionOperands& operands, GpuPrecision precision = GpuPrecision::kFp32) {
  return in_every_schedule(
      {{"out", unwritten(operands.out_size())}},
      [&](const KernelCall& call, Results& results) { return run(call, operands, results); }, precision);
}

class AttentionForward : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionForward, IsTheCpus) {
  const AttentionOperands operands(GetParam());
  expect_near(expected_of(operands), got_of(operands), kBound);
}

INSTANTIATE_TEST_SUITE_P(Causal, AttentionForward, testing::ValuesIn(causal_cases()),
                         [](const auto& attention) { return name_of(attention.param); });

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionForward,
    testing::ValuesIn(std::vector<AttentionCase>{
        // Tiles that are full, nearly empty, and several.
        {.shape = {1, 1, 1, 1, 8, 32, 0}, .bias = Pairs::kNone},
        {.shape = {2, 2, 17, 33, 8, 32, 0}, .replicas_share = true},
        {.shape = {1, 1, 5, 70, 8, 32, 0}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 16, 32, 3, 12, 0}},
        {.shape = {1, 1, 3, 41, 16, 32, 0}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 2, 3, 1, 4, 0}},
        {.shape = {1, 1, 5, 5, 16, 8, 0}},
        {.shape = {1, 1, 9, 9, 8, 64, 0}},
        // f.
        {.shape = {1, 2, 41, 41, 8, 32, 64}},
        {.shape = {2, 1, 17, 33, 8, 32, 64}},
        {.shape = {2, 1, 5, 40, 8, 32, 16},
         .bias = Pairs::kByPair,
         .hidden_bias = Pairs::kByPair,
         .replicas_share = true},
        {.shape = {1, 1, 16, 32, 2, 64, 4}, .bias = Pairs::kNone, .hidden_bias = Pairs::kByPair},
        {.shape = {1, 1, 7, 7, 1, 8, 5}},
        {.shape = {1, 1, 7, 35, 4, 16, 8}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 3, 9, 3, 8, 3}},
        {.shape = {1, 2, 18, 18, 5, 8, 32}},
        {.shape = {1, 1, 4, 20, 8, 64, 8}},
        {.shape = {1, 1, 5, 33, 16, 16, 64}},
        {.shape = {1, 1, 5, 33, 11, 32, 6}},
    }),
    [](const auto& c) { return name_of(c.param); });

// 1,500 keys are 47 tiles of the running softmax.
TEST(AttentionForwardKernel, TakesLongSequences) {
  const AttentionOperands operands({.shape = {1, 1, 2, 1500, 8, 32, kFindsRaces ? 0 : 8}});
  expect_near(expected_of(operands), got_of(operands), kBound);
}

TEST(AttentionForwardKernel, RunsInTf32) {
  for (const AttentionCase& c :
       {AttentionCase{.shape = {2, 1, 17, 33, 8, 32, 64}}, AttentionCase{.shape = {1, 1, 5, 70, 7, 8, 8}},
        AttentionCase{.shape = {1, 1, 35, 35, 8, 8, 8, true}},
        AttentionCase{.shape = {1, 1, 3, 5, 8, 64, 16}, .bias = Pairs::kNone, .hidden_bias = Pairs::kByPair},
        AttentionCase{.shape = {2, 2, 41, 41, 8, 32, 0}},
        AttentionCase{.shape = {1, 1, 3, 70, 5, 24, 0, true}, .bias = Pairs::kByPair},
        AttentionCase{.shape = {1, 1, 20, 20, 2, 64, 0}, .bias = Pairs::kNone}}) {
    const AttentionOperands operands(c);
    const Results expected = expected_of(operands);
    const Results got = got_of(operands, GpuPrecision::kTf32);
    expect_near(expected, got, kTf32Bound);
    EXPECT_NE(got_of(operands)[0].values, got[0].values);
  }
}

// Tensor cores have no fragment for odd widths, f of other numbers of heads, and heads without a warp.
TEST(AttentionForwardKernel, RunsInFp32WhereTf32DoesNotFit) {
  for (const AttentionCase& c :
       {AttentionCase{.shape = {1, 1, 3, 5, 8, 8, 6}}, AttentionCase{.shape = {1, 1, 3, 5, 4, 8, 8}},
        AttentionCase{.shape = {1, 1, 3, 5, 2, 12, 0}}, AttentionCase{.shape = {1, 1, 3, 5, 9, 8, 0}}}) {
    const AttentionOperands operands(c);
    EXPECT_EQ(got_of(operands)[0].values, got_of(operands, GpuPrecision::kTf32)[0].values);
  }
}

TEST(AttentionForwardKernel, KeepsTheResultAndLogSums) {
  const AttentionOperands operands({.shape = {2, 2, 17, 19, 3, 8, 0}});
  const AttentionInputs in = operands.inputs();
  std::vector<float> out = unwritten(operands.out_size());
  std::vector<float> saved = unwritten(cuda_kernels().attention.saved_values(in.shape));
  const ExampleView<float> view = operands.out_view(out.data());
  const KernelCall call{};
  ASSERT_EQ(kKernelDone, cuda_kernels().attention.forward(call, in, view, saved.data()));
  const std::int64_t sums = in.shape.replicas * in.shape.batch * in.shape.heads * in.shape.queries;
  EXPECT_EQ(out, std::vector<float>(saved.end() - operands.out_size(), saved.end()));
  // The log sum of the last query of the last head.
  double powers = 0;
  for (std::int64_t j = 0; j < in.shape.keys; ++j) {
    double logit = 0;
    for (std::int64_t c = 0; c < 8; ++c) {
      logit += static_cast<double>(in.q.of(1, 1)[16 * 24 + 16 + c]) *
               static_cast<double>(in.k.of(1, 1)[j * 24 + 16 + c]);
    }
    powers += std::exp(logit / std::sqrt(8.0) + static_cast<double>(in.bias.row(1, 2)[j - 16 + 16]));
  }
  EXPECT_NEAR(std::log(powers), saved[static_cast<std::size_t>(sums - 1)], 1e-5);
}

// As on the CPU, a logit that is no number spoils its query and no other, and keys with a bias of -infinity
// have no weight, even where a whole tile of keys has it.
TEST(AttentionForwardKernel, TreatsInfinityAndNoNumbersAsTheCpu) {
  const AttentionOperands operands({.shape = {1, 1, 3, 50, 2, 8, 0}, .bias = Pairs::kByPair});
  std::vector<float> bias = some_values(operands.bias_size(), 4);
  for (std::size_t key = 0; key < 40; ++key) bias[key] = -HUGE_VALF;
  bias[50 + 7] = NAN;
  AttentionInputs in = operands.inputs();
  in.bias = operands.bias_view<const float>(bias.data());
  std::vector<float> got = unwritten(operands.out_size());
  const ExampleView<float> view = operands.out_view(got.data());
  const KernelCall call{};
  const Results expected = on_the_cpu({{"out", got}}, kBound, [&](const KernelCall& plain, Results& results) {
    cpu_kernels().attention.forward(plain, in, operands.out_view(results[0].values.data()), nullptr);
  });
  ASSERT_EQ(kKernelDone, cuda_kernels().attention.forward(call, in, view, nullptr));
  expect_near(expected, {{"out", got}}, kBound);
  EXPECT_TRUE(std::isnan(got[16]));
  EXPECT_FALSE(std::isnan(got[0]));
}

// With the paper's shape, f included, so that registers are what limits the blocks of a processor.
TEST(AttentionForwardKernel, HasSharedMemoryForThreeBlocksOfAnH100) {
  const AttentionOperands operands({.shape = {1, 1, 1, 1, 8, 32, 64}});
  gpu::take_largest_shared_bytes();
  got_of(operands);
  EXPECT_LE(3 * (gpu::take_largest_shared_bytes() + 1024), 228 * 1024);
}

TEST(AttentionForwardKernel, SaysWhatItDoesNotServe) {
  const KernelCall call{};
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 17, 8, 0}, AttentionShape{1, 1, 1, 1, 8, 6, 0},
        AttentionShape{1, 1, 1, 1, 8, 68, 0}, AttentionShape{1, 1, 1, 1, 16, 64, 0},
        AttentionShape{1, 1, 1, 1, 8, 32, 4096}, AttentionShape{1, 65536, 1, 1, 8, 32, 0},
        AttentionShape{1, 1, 2, 1, 8, 32, 0}}) {
    AttentionInputs in{};
    in.shape = shape;
    const ExampleView<float> out{};
    EXPECT_EQ(kKernelNotServed, cuda_kernels().attention.forward(call, in, out, nullptr));
  }
}

TEST(AttentionForwardKernel, DoesNothingForNoExamples) {
  const KernelCall call{};
  AttentionInputs in{};
  in.shape = {1, 0, 1, 1, 8, 32, 0};
  const ExampleView<float> out{};
  EXPECT_EQ(kKernelDone, cuda_kernels().attention.forward(call, in, out, nullptr));
}

}  // namespace
}  // namespace che
