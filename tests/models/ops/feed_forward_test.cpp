#include "models/ops/feed_forward/feed_forward.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/fused_comparison.h"
#include "tests/models/ops/targets.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

struct FeedForwardCase {
  std::int64_t replicas, batch, tokens, width, hidden;
  Activation activation = Activation::kRelu;
};

class FeedForward : public testing::TestWithParam<FeedForwardCase> {
 protected:
  std::vector<at::Tensor> inputs() const {
    const FeedForwardCase& c = GetParam();
    return {some_numbers({c.replicas, c.batch, c.tokens, c.width}, 1),
            some_numbers({c.replicas, c.width, c.hidden}, 2), some_numbers({c.replicas, c.hidden}, 3),
            some_numbers({c.replicas, c.hidden, c.width}, 4)};
  }

  static Operation operation(Kernels kernels, Operands operands = Operands::kFp32) {
    return [=](const std::vector<at::Tensor>& in) {
      Backend backend = test_backend(kernels);
      backend.operands = operands;
      // Sums stay near 1, so that rounding is that of one value.
      return feed_forward(in[0], in[1], in[2], in[3], GetParam().activation, backend) /
             static_cast<double>(in[2].size(1));
    };
  }
};

TEST_P(FeedForward, FusedEqualsReference) {
  expect_fused_equals_reference(operation(Kernels::kFused), operation(Kernels::kReference), inputs(),
                                {.value = 1e-4});
}

// bf16 has 8 bits. ReLU's slope jumps where rounding moves a value across 0, so that gradients are compared
// at equal rounding; there, sums in another order may round a hidden value to its neighbour.
TEST_P(FeedForward, OfBf16IsNearTheReference) {
  const auto outcome = [&](Kernels kernels) {
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& input : inputs()) leaves.push_back(input.to(at::kFloat).requires_grad_());
    return outcome_of(operation(kernels, Operands::kBf16), leaves);
  };
  const Outcome fused = outcome(Kernels::kFused), composed = outcome(Kernels::kReference);
  EXPECT_EQ("", difference(fused.value, operation(Kernels::kReference)(inputs()), 0.04));
  EXPECT_EQ("", difference(fused.value, composed.value, 0x1p-8));
  ASSERT_EQ(4U, fused.gradients.size());
  for (std::size_t i = 0; i < fused.gradients.size(); ++i) {
    EXPECT_EQ("", difference(fused.gradients[i], composed.gradients[i], 0x1p-6)) << i;
  }
}

TEST_P(FeedForward, WithoutGradientsIsTheSame) {
  std::vector<at::Tensor> single;
  for (const at::Tensor& input : inputs()) single.push_back(input.to(at::kFloat).requires_grad_(true));
  const at::Tensor value = operation(Kernels::kFused)(single);
  const c10::NoGradGuard no_grad;
  EXPECT_EQ("", difference(operation(Kernels::kFused)(single), value, 1e-6));
}

// The last ones have more tokens than a block.
INSTANTIATE_TEST_SUITE_P(Shapes, FeedForward,
                         testing::Values(FeedForwardCase{1, 2, 3, 8, 32}, FeedForwardCase{2, 3, 5, 7, 19},
                                         FeedForwardCase{1, 1, 1, 16, 16}, FeedForwardCase{1, 30, 41, 4, 9},
                                         FeedForwardCase{2, 30, 41, 3, 5}, FeedForwardCase{1, 9, 120, 2, 17},
                                         FeedForwardCase{2, 3, 5, 7, 19, Activation::kGelu},
                                         FeedForwardCase{1, 30, 41, 4, 9, Activation::kGelu},
                                         FeedForwardCase{2, 30, 41, 3, 32, Activation::kGelu}));

// Phi is 1 at infinity, so that values there stay as they are, and small ones keep their digits.
TEST(FeedForward, GeluEqualsItsFormulaOverItsRange) {
  const at::Tensor x = at::arange(-1280, 1280, at::kDouble).view({1, 1, -1, 1}) / 128;
  const at::Tensor one = at::ones({1, 1, 1});
  const at::Tensor expected = x * at::special_ndtr(x);
  for (const std::int64_t target : kernel_targets()) {
    const OnTarget on(target);
    const at::Tensor found = feed_forward(x.to(at::kFloat), one, at::zeros({1, 1}), one, Activation::kGelu,
                                          test_backend(Kernels::kFused));
    EXPECT_EQ("", difference(found, expected, 5e-7));
  }
}

TEST(FeedForward, RefusesOperandsThatDoNotFit) {
  const at::Tensor x = at::zeros({2, 3, 4, 8});
  const at::Tensor w1 = at::zeros({2, 8, 16});
  const at::Tensor w2 = at::zeros({2, 16, 8});
  EXPECT_THROW(feed_forward(x, w1, at::zeros({1, 16}), w2, Activation::kRelu, test_backend(Kernels::kFused)),
               Error);
  EXPECT_THROW(feed_forward(x, w1, at::zeros({2, 16}), at::zeros({2, 8, 16}), Activation::kRelu,
                            test_backend(Kernels::kFused)),
               Error);
  EXPECT_THROW(feed_forward(x, w1.to(at::kDouble), at::zeros({2, 16}), w2, Activation::kRelu,
                            test_backend(Kernels::kFused)),
               Error);
}

TEST(FeedForward, WhatIsNoNumberShows) {
  for (const std::int64_t target : kernel_targets()) {
    const OnTarget on(target);
    at::Tensor x = at::ones({1, 1, 2, 8});
    x[0][0][1][3] = std::numeric_limits<float>::quiet_NaN();
    for (const Activation activation : {Activation::kRelu, Activation::kGelu}) {
      const at::Tensor value = feed_forward(x, at::ones({1, 8, 16}), at::zeros({1, 16}), at::ones({1, 16, 8}),
                                            activation, test_backend(Kernels::kFused));
      EXPECT_FALSE(at::isnan(value.select(2, 0)).any().item<bool>());
      EXPECT_TRUE(at::isnan(value.select(2, 1)).all().item<bool>());
    }
  }
}

}  // namespace
}  // namespace che
