#include "models/ops/embedding/embedding.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/models/ops/fused_comparison.h"

namespace che {
namespace {

constexpr std::int64_t kReplicas = 2;
constexpr std::int64_t kSymbols = 3;

Embedding embedding_of(const at::Tensor& tokens) {
  return {tokens, kSymbols, kReplicas, test_backend(Kernels::kReference)};
}

at::Tensor some_tokens() { return at::tensor({0, 2, 2, 1, 1, 0}, at::kLong).view({2, 3}); }

TEST(EmbeddingRows, AreThoseOfTheSymbolsFromATokenOn) {
  const at::Tensor table = at::arange(kReplicas * kSymbols * 4, at::kDouble).view({kReplicas, kSymbols, 4});
  for (const at::Tensor& tokens : {some_tokens(), some_tokens().t().contiguous().t()}) {
    for (const std::int64_t first : {0, 1, 2}) {
      const at::Tensor rows = embedding_of(tokens).rows(table, first);
      ASSERT_EQ(at::IntArrayRef({kReplicas, 2, 3 - first, 4}), rows.sizes());
      for (std::int64_t r = 0; r < kReplicas; ++r) {
        for (std::int64_t b = 0; b < 2; ++b) {
          for (std::int64_t t = first; t < 3; ++t) {
            const auto symbol = tokens[b][t].item<std::int64_t>();
            EXPECT_TRUE(at::equal(table[r][symbol], rows[r][b][t - first]));
          }
        }
      }
    }
  }
}

TEST(EmbeddingRows, SumTheGradientsOfASymbolsTokens) {
  at::Tensor table = at::zeros({kReplicas, kSymbols, 2}, at::kDouble).requires_grad_();
  const at::Tensor rows = embedding_of(some_tokens()).rows(table, 1);
  const at::Tensor weights = at::arange(rows.numel(), at::kDouble).view(rows.sizes());
  rows.mul(weights).sum().backward();
  at::Tensor expected = at::zeros_like(table);
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 1; t < 3; ++t) {
      expected.select(1, some_tokens()[b][t].item<std::int64_t>()) += weights.select(1, b).select(1, t - 1);
    }
  }
  EXPECT_TRUE(at::equal(expected, table.grad()));
}

// A large vocabulary, and a small one, have the same values and gradients.
TEST(EmbeddingRows, AreGatheredFromALargeTable) {
  constexpr std::int64_t kMany = Embedding::kMostOneHot + 1;
  const at::Tensor tokens = at::arange(60).mul(413).remainder(kMany).fmod(7 * kMany / 8).view({4, 15});
  const auto outcome = [&](const at::Tensor& found, const at::Tensor& table) {
    found.mul(at::arange(found.numel(), at::kDouble).view(found.sizes())).sum().backward();
    return table.grad();
  };
  const at::Tensor values = at::rand({kReplicas, kMany, 5}, at::kDouble);
  const at::Tensor table = values.clone().requires_grad_();
  const at::Tensor other = values.clone().requires_grad_();
  const at::Tensor found =
      Embedding(tokens, kMany, kReplicas, test_backend(Kernels::kReference)).rows(table, 3);
  const at::Tensor expected =
      reference::embedding(reference::one_hot(tokens, kMany, kReplicas, values.options()).slice(2, 3), other);
  EXPECT_TRUE(at::equal(expected, found));
  const at::Tensor gradient = outcome(found, table);
  EXPECT_TRUE(at::allclose(outcome(expected, other), gradient, 1e-12));
  const at::Tensor with_threads = values.clone().requires_grad_();
  at::set_num_threads(2);
  outcome(Embedding(tokens, kMany, kReplicas, test_backend(Kernels::kReference)).rows(with_threads, 3),
          with_threads);
  at::set_num_threads(1);
  EXPECT_TRUE(at::equal(gradient, with_threads.grad())) << "threads change the gradient";
}

TEST(EmbeddingRows, RefuseOperandsThatDoNotFit) {
  EXPECT_THROW(embedding_of(some_tokens().to(at::kInt)), Error);
  EXPECT_THROW(embedding_of(some_tokens().to(at::kMeta)), Error);
  EXPECT_THROW(embedding_of(some_tokens().unsqueeze(0)), Error);
  const Embedding embedding = embedding_of(some_tokens());
  EXPECT_THROW(embedding.rows(at::zeros({kReplicas, kSymbols + 1, 4}), 0), Error);
  EXPECT_THROW(embedding.rows(at::zeros({kReplicas + 1, kSymbols, 4}), 0), Error);
}

}  // namespace
}  // namespace che
