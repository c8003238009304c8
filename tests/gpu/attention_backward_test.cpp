// Attention's backward kernels on the emulated GPU against the CPU's.
#include <gtest/gtest.h>

#include <vector>

#include "models/ops/device/kernel_table.h"
#include "tests/gpu/attention_rig.h"
#include "tests/gpu/emulated_gpu.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

// Of the largest gradient, or of 1.
constexpr double kBound = 3e-5;
constexpr double kTf32Bound = 5e-3;

enum Gradient : std::size_t { kQ, kK, kV, kBias, kW1, kW2, kB2, kHiddenBias };

Results gradients_of(const AttentionOperands& operands) {
  const AttentionShape shape = operands.inputs().shape;
  const bool has_mlp = shape.hidden > 0;
  return {{"d_q", unwritten(operands.out_size())},
          {"d_k", unwritten(operands.kv_size())},
          {"d_v", unwritten(operands.kv_size())},
          {"d_bias", unwritten(operands.bias_size())},
          {"d_w1", unwritten(operands.mlp_size())},
          {"d_w2", unwritten(operands.mlp_size())},
          {"d_b2", unwritten(has_mlp ? shape.replicas * shape.heads : 0)},
          {"d_hidden_bias", unwritten(has_mlp ? operands.hidden_bias_size() : 0)}};
}

AttentionGradients views_of(const AttentionOperands& operands, Results& results) {
  const auto data = [&](Gradient gradient) { return results[gradient].values.data(); };
  return {.d_q = operands.out_view(data(kQ)),
          .d_k = operands.kv_view(data(kK)),
          .d_v = operands.kv_view(data(kV)),
          .d_bias = operands.bias_view(data(kBias)),
          .d_sums = {},
          .d_w1 = data(kW1),
          .d_w2 = data(kW2),
          .d_b2 = data(kB2),
          .d_hidden_bias = operands.hidden_bias_view(data(kHiddenBias))};
}

Results expected_of(const AttentionOperands& operands) {
  const AttentionInputs in = operands.inputs();
  const AttentionKernels& form = cpu_kernels().attention;
  return on_the_cpu(gradients_of(operands), kBound, [&](const KernelCall& call, Results& results) {
    std::vector<float> out = unwritten(operands.out_size());
    std::vector<float> saved = unwritten(form.saved_values(in.shape));
    form.forward(call, in, operands.out_view(out.data()), saved.data());
    form.backward(call, in, saved.data(), operands.out_view(operands.d_out().data()),
                  views_of(operands, results));
  });
}

Results got_of(const AttentionOperands& operands, GpuPrecision precision = GpuPrecision::kFp32) {
  const AttentionInputs in = operands.inputs();
  const ExampleView<const float> d_out = operands.out_view(operands.d_out().data());
  std::vector<float> out = unwritten(operands.out_size());
  std::vector<float> saved = unwritten(cuda_kernels().attention.saved_values(in.shape));
  const ExampleView<float> out_view = operands.out_view(out.data());
  KernelCall forward_call{};
  forward_call.precision = precision;
  EXPECT_EQ(kKernelDone, cuda_kernels().attention.forward(forward_call, in, out_view, saved.data()));
  Results results = gradients_of(operands);
  return in_every_schedule(
      results,
      [&](const KernelCall& call, Results& got) {
        const AttentionGradients gradients = views_of(operands, got);
        return cuda_kernels().attention.backward(call, in, saved.data(), d_out, gradients);
      },
      precision);
}

class AttentionBackward : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionBackward, IsTheCpus) {
  const AttentionOperands operands(GetParam());
  expect_near(expected_of(operands), got_of(operands), kBound);
}

INSTANTIATE_TEST_SUITE_P(Causal, AttentionBackward, testing::ValuesIn(causal_cases()),
                         [](const auto& attention) { return name_of(attention.param); });

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionBackward,
    testing::ValuesIn(std::vector<AttentionCase>{
        {.shape = {1, 1, 1, 1, 8, 32, 0}, .bias = Pairs::kNone},
        {.shape = {2, 2, 17, 33, 8, 32, 0}, .replicas_share = true},
        {.shape = {1, 2, 5, 40, 8, 32, 0}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 16, 16, 3, 12, 0}},
        {.shape = {1, 1, 3, 19, 16, 32, 0}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 2, 3, 1, 4, 0}},
        {.shape = {1, 1, 9, 9, 8, 64, 0}},
        // f.
        {.shape = {1, 2, 41, 41, 8, 32, 64}},
        {.shape = {2, 2, 17, 20, 8, 32, 64}},
        {.shape = {2, 3, 5, 18, 8, 32, 16},
         .bias = Pairs::kByPair,
         .hidden_bias = Pairs::kByPair,
         .replicas_share = true},
        {.shape = {1, 1, 16, 32, 2, 64, 4}, .bias = Pairs::kNone, .hidden_bias = Pairs::kByPair},
        {.shape = {1, 1, 7, 7, 1, 8, 5}},
        {.shape = {1, 1, 7, 19, 4, 16, 8}, .bias = Pairs::kByPair},
        {.shape = {1, 1, 3, 9, 3, 8, 3}},
        // Splits of more than one tile of keys, and parts of more than one example.
        {.shape = {2, 1, 20, 150, 2, 4, 0}},
        {.shape = {1, 2, 17, 150, 2, 4, 8}},
        {.shape = {2, 1, 17, 150, 2, 4, 8}, .bias = Pairs::kByPair, .hidden_bias = Pairs::kByPair},
        {.shape = {1, 40, 3, 40, 2, 4, 8}, .bias = Pairs::kByPair, .hidden_bias = Pairs::kByPair},
        {.shape = {1, 2, 18, 18, 5, 8, 32}},
        {.shape = {1, 1, 4, 5, 8, 64, 9}},
        {.shape = {1, 1, 5, 17, 16, 16, 64}},
        {.shape = {1, 1, 5, 6, 11, 32, 6}},
    }),
    [](const auto& c) { return name_of(c.param); });

// TF32 may round an input of LeakyReLU to the other side of zero, which changes the slope. b2 shifts all
// logits of a query, whose gradients add up to zero.
TEST(AttentionBackwardKernel, RunsInTf32) {
  for (AttentionCase c :
       {AttentionCase{.shape = {1, 2, 41, 41, 8, 32, 64}}, AttentionCase{.shape = {2, 1, 17, 33, 8, 32, 64}},
        AttentionCase{.shape = {1, 1, 5, 70, 7, 8, 8}}, AttentionCase{.shape = {1, 2, 35, 35, 8, 8, 8, true}},
        AttentionCase{
            .shape = {1, 3, 3, 5, 8, 64, 16}, .bias = Pairs::kByPair, .hidden_bias = Pairs::kByPair},
        AttentionCase{.shape = {2, 2, 41, 41, 8, 32, 0}},
        AttentionCase{.shape = {1, 1, 3, 70, 5, 24, 0, true}, .bias = Pairs::kByPair},
        AttentionCase{.shape = {1, 1, 20, 20, 2, 64, 0}, .bias = Pairs::kNone},
        // Splits of several tiles of keys, which add to dq.
        AttentionCase{.shape = {1, 1, 20, 150, 2, 40, 0, true}},
        AttentionCase{.shape = {1, 1, 17, 150, 8, 8, 8}}}) {
    c.avoids_kinks = true;
    const AttentionOperands operands(c);
    const Results expected = expected_of(operands);
    const Results got = got_of(operands, GpuPrecision::kTf32);
    const Results fp32 = got_of(operands);
    for (const std::size_t kind : {kQ, kK, kV}) EXPECT_NE(fp32[kind].values, got[kind].values);
    for (const float value : got[kB2].values) EXPECT_NEAR(0, value, 1e-4);
    expect_near(expected, got, kTf32Bound);
  }
}

// More examples than parts, which are added up in order.
TEST(AttentionBackwardKernel, SumsOverManyExamples) {
  const AttentionOperands by_offset({.shape = {1, 130, 2, 3, 2, 4, 3}});
  expect_near(expected_of(by_offset), got_of(by_offset), kBound);
  const AttentionOperands by_pair({.shape = {1, 35, 2, 3, 2, 4, 3}, .hidden_bias = Pairs::kByPair});
  expect_near(expected_of(by_pair), got_of(by_pair), kBound);
}

// A bias that is no parameter has no gradient; then nothing is shared.
TEST(AttentionBackwardKernel, LeavesOutTheBiasWhereItIsNotWanted) {
  const AttentionOperands operands({.shape = {1, 3, 5, 5, 2, 8, 0}});
  const AttentionInputs in = operands.inputs();
  const ExampleView<const float> d_out = operands.out_view(operands.d_out().data());
  std::vector<float> out = unwritten(operands.out_size());
  std::vector<float> saved = unwritten(cuda_kernels().attention.saved_values(in.shape));
  const ExampleView<float> out_view = operands.out_view(out.data());
  Results results = gradients_of(operands);
  AttentionGradients gradients = views_of(operands, results);
  gradients.d_bias = {};
  CallWithMemory with_memory;
  const KernelCall& call = with_memory.call;
  ASSERT_EQ(kKernelDone, cuda_kernels().attention.forward(call, in, out_view, saved.data()));
  ASSERT_EQ(kKernelDone, cuda_kernels().attention.backward(call, in, saved.data(), d_out, gradients));
  EXPECT_EQ(3U * 5 * 2 + 2, with_memory.workspace.size());
  Results expected = expected_of(operands);
  expected[kBias] = results[kBias] = {"d_bias", {}};
  expect_near(expected, results, kBound);
}

// With the paper's shape, f included.
TEST(AttentionBackwardKernel, HasSharedMemoryForTwoBlocksOfAnH100) {
  const AttentionOperands operands({.shape = {1, 1, 1, 1, 8, 32, 64}});
  gpu::take_largest_shared_bytes();
  got_of(operands);
  EXPECT_LE(2 * (gpu::take_largest_shared_bytes() + 1024), 228 * 1024);
}

// As GPUs of compute capability 8.6, 8.9 and 12.0 have. v is read again for each tile of queries.
TEST(AttentionBackwardKernel, ServesThePapersShapeIn99KiB) {
  for (const std::int64_t hidden : {32, 64}) {
    AttentionCase c{.shape = {1, 2, 35, 41, 8, 32, hidden}};
    c.avoids_kinks = true;
    const AttentionOperands operands(c);
    for (const GpuPrecision precision : {GpuPrecision::kFp32, GpuPrecision::kTf32}) {
      const Results usual = got_of(operands, precision);
      gpu::shared_bytes_limit = 99 * 1024;
      gpu::take_largest_shared_bytes();
      const Results got = got_of(operands, precision);
      gpu::shared_bytes_limit = gpu::kMaxSharedBytes;
      EXPECT_LE(gpu::take_largest_shared_bytes(), 99 * 1024);
      for (std::size_t kind = 0; kind < got.size(); ++kind) {
        EXPECT_EQ(usual[kind].values, got[kind].values) << got[kind].name;
      }
    }
  }
}

TEST(AttentionBackwardKernel, SaysWhatItDoesNotServe) {
  const KernelCall call{};
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 17, 8, 0}, AttentionShape{1, 1, 1, 1, 8, 32, 4096}}) {
    AttentionInputs in{};
    in.shape = shape;
    const ExampleView<const float> d_out{};
    const AttentionGradients gradients{};
    EXPECT_EQ(kKernelNotServed, cuda_kernels().attention.backward(call, in, nullptr, d_out, gradients));
  }
}

}  // namespace
}  // namespace che
