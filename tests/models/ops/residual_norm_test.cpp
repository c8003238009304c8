#include "models/ops/residual_norm/residual_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/fused_comparison.h"

namespace che {
namespace {

struct ResidualNormCase {
  std::int64_t replicas, batch, tokens, width;
  double rate;
  std::int64_t first_token;  // Tokens of x before the first of y.
};

class ResidualNorm : public testing::TestWithParam<ResidualNormCase> {};

TEST_P(ResidualNorm, FusedEqualsReference) {
  const ResidualNormCase& c = GetParam();
  Dropout dropout{c.rate, {5, 6}, Purpose::kDropout, 3, 0};
  dropout.seeds.resize(static_cast<std::size_t>(c.replicas));
  const auto operation = [&](Kernels kernels) {
    return [&, kernels](const std::vector<at::Tensor>& in) {
      return residual_norm(in[0].slice(2, c.first_token), in[1], in[2], in[3], in[4],
                           {dropout, 7, c.first_token}, test_backend(kernels));
    };
  };
  expect_fused_equals_reference(
      operation(Kernels::kFused), operation(Kernels::kReference),
      {some_numbers({c.replicas, c.batch, c.first_token + c.tokens, c.width}, 1),
       some_numbers({c.replicas, c.batch, c.tokens, c.width}, 2), some_numbers({c.replicas, c.width}, 3),
       some_numbers({c.replicas, c.width}, 4), some_numbers({c.replicas, c.width}, 5)},
      {.value = 1e-4});
}

// The sum and the norm are read, as in a block with pre-norm.
TEST_P(ResidualNorm, FusedSumAndNormEqualTheReference) {
  const ResidualNormCase& c = GetParam();
  Dropout dropout{c.rate, {5, 6}, Purpose::kDropout, 3, 0};
  dropout.seeds.resize(static_cast<std::size_t>(c.replicas));
  const auto operation = [&](Kernels kernels) {
    return [&, kernels](const std::vector<at::Tensor>& in) {
      const SumAndNorm both = residual_sum_norm(in[0].slice(2, c.first_token), in[1], in[2], in[3], in[4],
                                                {dropout, 7, c.first_token}, test_backend(kernels));
      return at::stack({both.sum, both.norm});
    };
  };
  expect_fused_equals_reference(
      operation(Kernels::kFused), operation(Kernels::kReference),
      {some_numbers({c.replicas, c.batch, c.first_token + c.tokens, c.width}, 1),
       some_numbers({c.replicas, c.batch, c.tokens, c.width}, 2), some_numbers({c.replicas, c.width}, 3),
       some_numbers({c.replicas, c.width}, 4), some_numbers({c.replicas, c.width}, 5)},
      {.value = 1e-4});
}

// Only the sum is read.
TEST(ResidualNorm, PassesTheGradientOfTheSumAlone) {
  const Dropout dropout{0.1, {5}, Purpose::kDropout, 3, 0};
  const auto operation = [&](Kernels kernels) {
    return [&, kernels](const std::vector<at::Tensor>& in) {
      return residual_sum_norm(in[0], in[1], in[2], in[3], in[4], {dropout, 7, 0}, test_backend(kernels)).sum;
    };
  };
  expect_fused_equals_reference(
      operation(Kernels::kFused), operation(Kernels::kReference),
      {some_numbers({1, 3, 4, 20}, 1), some_numbers({1, 3, 4, 20}, 2), some_numbers({1, 20}, 3),
       some_numbers({1, 20}, 4), some_numbers({1, 20}, 5)});
}

// Widths around a vector's, an odd one, one token, more examples than pieces, trimmed sequences.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidualNorm,
    testing::Values(ResidualNormCase{1, 2, 3, 16, 0.1, 0}, ResidualNormCase{2, 3, 5, 15, 0.1, 0},
                    ResidualNormCase{1, 3, 4, 17, 0.3, 2}, ResidualNormCase{2, 19, 1, 64, 0.1, 6},
                    ResidualNormCase{1, 2, 40, 7, 0.1, 3}, ResidualNormCase{1, 1, 70, 33, 0.5, 0},
                    ResidualNormCase{2, 2, 3, 24, 0, 1}));

TEST(ResidualNorm, ServesWithoutABiasOfY) {
  const Dropout dropout{0.1, {5}, Purpose::kDropout, 3, 0};
  const auto operation = [&](Kernels kernels) {
    return [&, kernels](const std::vector<at::Tensor>& in) {
      return residual_norm(in[0], in[1], {}, in[2], in[3], {dropout, 7, 0}, test_backend(kernels));
    };
  };
  expect_fused_equals_reference(operation(Kernels::kFused), operation(Kernels::kReference),
                                {some_numbers({1, 3, 4, 20}, 1), some_numbers({1, 3, 4, 20}, 2),
                                 some_numbers({1, 20}, 3), some_numbers({1, 20}, 4)},
                                {.value = 1e-4});
}

TEST(ResidualNorm, RefusesOperandsThatDoNotFit) {
  const at::Tensor x = at::zeros({2, 3, 4, 8});
  const at::Tensor of_features = at::zeros({2, 8});
  const Dropout dropout{0.1, {5, 6}, Purpose::kDropout, 3, 0};
  const Dropout one_seed{0.1, {5}, Purpose::kDropout, 3, 0};
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const DropoutSite site{dropout, 7, 0};
    const Backend backend = test_backend(kernels);
    EXPECT_NO_THROW(residual_norm(x, x, {}, of_features, of_features, site, backend));
    EXPECT_THROW(residual_norm(x, at::zeros({2, 3, 5, 8}), {}, of_features, of_features, site, backend),
                 Error);
    EXPECT_THROW(residual_norm(x, x, {}, at::zeros({1, 8}), of_features, site, backend), Error);
    EXPECT_THROW(residual_norm(x, x, {}, of_features, of_features, {one_seed, 7, 0}, backend), Error);
  }
}

}  // namespace
}  // namespace che
