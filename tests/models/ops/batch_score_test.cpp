#include "models/ops/batch_score/batch_score.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/models/ops/fused_comparison.h"

namespace che {
namespace {

// Two replicas, one example, two outputs of which the mask keeps the first, three classes.
struct Operands {
  at::Tensor logits =
      at::tensor({1.0F, 2.0F, 0.0F, 4.0F, 4.0F, 0.0F, 0.0F, 0.0F, 3.0F, 0.0F, 5.0F, 0.0F}).view({2, 1, 2, 3});
  at::Tensor targets = at::tensor({1, 0}, at::kLong).view({1, 2});
  at::Tensor mask = at::tensor({1, 0}, at::kByte).view({1, 2});

  BatchScore score() const { return score_batch(logits, targets, mask, test_backend(Kernels::kReference)); }
};

double cross_entropy(double target, double second, double third) {
  return std::log(std::exp(target) + std::exp(second) + std::exp(third)) - target;
}

TEST(BatchScore, IsTheMeanLossOfAllOutputsAndTheCorrectOnesOfTheMask) {
  const BatchScore score = Operands().score();
  ASSERT_EQ(at::IntArrayRef({2}), score.loss.sizes());
  EXPECT_NEAR((cross_entropy(2, 1, 0) + cross_entropy(4, 4, 0)) / 2, score.loss[0].item<double>(), 1e-6);
  EXPECT_NEAR((cross_entropy(0, 0, 3) + cross_entropy(0, 5, 0)) / 2, score.loss[1].item<double>(), 1e-6);
  // The second output is right in the first replica, and masked.
  EXPECT_EQ(1, score.correct[0].item<std::int64_t>());
  EXPECT_EQ(0, score.correct[1].item<std::int64_t>());
}

TEST(BatchScore, RefusesOperandsThatDoNotFit) {
  const auto refused = [](const auto& change) {
    Operands operands;
    change(operands);
    EXPECT_THROW(operands.score(), Error);
  };
  refused([](Operands& of) { of.targets = of.targets.t(); });
  refused([](Operands& of) { of.targets = of.targets.to(at::kInt); });
  refused([](Operands& of) { of.targets = of.targets.to(at::kMeta); });
  refused([](Operands& of) { of.mask = of.mask.t(); });
  refused([](Operands& of) { of.mask = of.mask.to(at::kBool); });
  refused([](Operands& of) { of.mask = of.mask.to(at::kMeta); });
}

}  // namespace
}  // namespace che
