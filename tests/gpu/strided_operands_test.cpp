// Operands of kernels whose values do not lie in memory one after the other, and those that kernels refuse.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "models/ops/batch_score/batch_score.h"
#include "models/ops/embedding/embedding.h"
#include "tests/gpu/device_backend.h"

namespace che {
namespace {

Backend backend() { return backend_on(fake_device(), Kernels::kFused); }

at::Tensor on_device(const at::Tensor& values) { return values.to(fake_device()); }

// Equal values, the last two dimensions exchanged in memory.
at::Tensor transposed(const at::Tensor& values) { return values.mT().contiguous().mT(); }

TEST(StridedOperands, HaveTheEmbeddingsOfTheirValues) {
  const at::Tensor tokens = on_device(at::tensor({0, 2, 2, 1, 1, 0}, at::kLong).view({2, 3}));
  const at::Tensor table = on_device(at::arange(2 * 3 * 4, at::kFloat).view({2, 3, 4}));
  const at::Tensor expected = Embedding(tokens, 3, 2, backend()).rows(table, 1).cpu();
  for (const at::Tensor& of_table : {table, transposed(table)}) {
    const at::Tensor rows = Embedding(transposed(tokens), 3, 2, backend()).rows(of_table, 1).cpu();
    EXPECT_TRUE(at::equal(expected, rows));
  }
}

TEST(StridedOperands, HaveTheScoreOfTheirValues) {
  const at::Tensor logits = on_device(at::tensor({1.0F, 2.0F, 0.0F, 4.0F, 4.5F, 0.0F, 0.0F, 0.5F, 3.0F, 0.0F,
                                                  5.0F, 0.0F, 1.0F, 0.0F, 0.5F, 2.0F, 0.0F, 1.0F})
                                          .view({1, 2, 3, 3}));
  const at::Tensor targets = on_device(at::tensor({1, 0, 2, 1, 2, 0}, at::kLong).view({2, 3}));
  const at::Tensor mask = on_device(at::tensor({1, 0, 1, 1, 1, 0}, at::kByte).view({2, 3}));
  const BatchScore expected = score_batch(logits, targets, mask, backend());
  const BatchScore score = score_batch(transposed(logits), transposed(targets), transposed(mask), backend());
  EXPECT_TRUE(at::equal(expected.loss.cpu(), score.loss.cpu()));
  EXPECT_TRUE(at::equal(expected.correct.cpu(), score.correct.cpu()));
  EXPECT_EQ(3, expected.correct.cpu()[0].item<std::int64_t>());
}

TEST(KernelsOfADevice, RefuseOperandsThatAreElsewhere) {
  const at::Tensor logits = on_device(at::zeros({1, 2, 3, 3}));
  const at::Tensor targets = at::zeros({2, 3}, at::kLong);
  const at::Tensor mask = at::zeros({2, 3}, at::kByte);
  EXPECT_THROW(score_batch(logits, targets, on_device(mask), backend()), Error);
  EXPECT_THROW(score_batch(logits, on_device(targets), mask, backend()), Error);
  EXPECT_THROW(Embedding(targets, 3, 2, backend()), Error);
}

}  // namespace
}  // namespace che
