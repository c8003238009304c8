#include "models/ops/residual_norm/residual_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

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

// Compares `output` of the sum and the norm, computed by both kernels. Operands: x, y, the bias of y where
// there is one, scale and offset.
void expect_equal(const ResidualNormCase& c, bool has_bias,
                  const std::function<at::Tensor(const SumAndNorm&)>& output) {
  Dropout dropout{c.rate, {5, 6}, Purpose::kDropout, 3, 0};
  dropout.seeds.resize(static_cast<std::size_t>(c.replicas));
  const auto operation = [&](Kernels kernels) {
    return [&, kernels](const std::vector<at::Tensor>& in) {
      const std::size_t scale = has_bias ? 3 : 2;
      const at::Tensor x = in[0].slice(2, c.first_token);
      const at::Tensor bias = has_bias ? in[2] : at::Tensor();
      const DropoutSite site{dropout, 7, c.first_token};
      const Backend backend = test_backend(kernels);
      if (output) return output(residual_sum_norm(x, in[1], bias, in[scale], in[scale + 1], site, backend));
      return residual_norm(x, in[1], bias, in[scale], in[scale + 1], site, backend);
    };
  };
  std::vector<at::Tensor> operands = {
      some_numbers({c.replicas, c.batch, c.first_token + c.tokens, c.width}, 1),
      some_numbers({c.replicas, c.batch, c.tokens, c.width}, 2)};
  for (std::uint64_t seed = 3; seed < (has_bias ? 6U : 5U); ++seed) {
    operands.push_back(some_numbers({c.replicas, c.width}, seed));
  }
  expect_fused_equals_reference(operation(Kernels::kFused), operation(Kernels::kReference), operands,
                                {.value = 1e-4});
}

TEST_P(ResidualNorm, FusedEqualsReference) { expect_equal(GetParam(), true, {}); }

// As in a block with pre-norm.
TEST_P(ResidualNorm, FusedSumAndNormEqualTheReference) {
  expect_equal(GetParam(), true, [](const SumAndNorm& both) { return at::stack({both.sum, both.norm}); });
}

// Widths around a vector's, an odd one, one token, more examples than pieces, trimmed sequences.
INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidualNorm,
    testing::Values(ResidualNormCase{1, 2, 3, 16, 0.1, 0}, ResidualNormCase{2, 3, 5, 15, 0.1, 0},
                    ResidualNormCase{1, 3, 4, 17, 0.3, 2}, ResidualNormCase{2, 19, 1, 64, 0.1, 6},
                    ResidualNormCase{1, 2, 40, 7, 0.1, 3}, ResidualNormCase{1, 1, 70, 33, 0.5, 0},
                    ResidualNormCase{2, 2, 3, 24, 0, 1}));

TEST(ResidualNorm, PassesTheGradientOfTheSumAlone) {
  expect_equal({1, 3, 4, 20, 0.1, 0}, true, [](const SumAndNorm& both) { return both.sum; });
}

TEST(ResidualNorm, ServesWithoutABiasOfY) { expect_equal({1, 3, 4, 20, 0.1, 0}, false, {}); }

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
