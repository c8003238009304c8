// The vector code by itself, without LibTorch, so that sanitizers watch it: buffers have exactly the size
// that the headers ask for, shapes fill no vector. What it computes is compared with the reference elsewhere;
// here only what is plain to see.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/random.h"
#include "models/ops/adam/adam_kernels.h"
#include "models/ops/attention/attention_simd.h"
#include "models/ops/feed_forward/bias_relu_kernels.h"
#include "models/ops/residual_norm/residual_norm_kernels.h"
#include "models/ops/rotation/rotation_kernels.h"
#include "tests/models/ops/targets.h"

namespace che {
namespace {

std::vector<float> some_values(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kInit);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<float> zeros(std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count)); }

// Every test on every instruction set of this machine.
class Simd : public testing::TestWithParam<std::int64_t> {
 private:
  OnTarget on_{GetParam()};
};

TEST_P(Simd, ResidualNormGivesRowsOfMeanZeroAndDeviationOne) {
  for (const std::int64_t width : {1, 7, 16, 33, 130}) {
    constexpr std::int64_t kRows = 9;
    const std::vector<float> x = some_values(kRows * width, 1);
    const std::vector<float> y = some_values(kRows * width, 2);
    const std::vector<float> bias = some_values(width, 3);
    const std::vector<float> ones(static_cast<std::size_t>(width), 1);
    const std::vector<float> none = zeros(width);
    const ResidualNormRows in{
        .rows = kRows,
        .width = width,
        .x = x.data(),
        .y = y.data(),
        .y_bias = bias.data(),
        .scale = ones.data(),
        .offset = none.data(),
        .dropout = {.key = {1, 2}, .counter = {3, 4, 5}, .threshold = 6554, .kept = 1.1F},
        .first_value = 3 * width,
        .epsilon = 1e-5F};
    std::vector<float> out = zeros(kRows * width);
    std::vector<float> moments = zeros(2 * kRows);
    residual_norm_forward(in, out.data(), moments.data());
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto begin = out.begin() + row * width;
      EXPECT_NEAR(0, std::accumulate(begin, begin + width, 0.0) / static_cast<double>(width), 1e-4);
      if (width > 1) {
        EXPECT_NEAR(1, std::inner_product(begin, begin + width, begin, 0.0) / static_cast<double>(width),
                    1e-2);
      }
    }
    std::vector<float> d_x = zeros(kRows * width);
    std::vector<float> d_y = zeros(kRows * width);
    std::vector<float> d_bias = zeros(width);
    std::vector<float> d_scale = zeros(width);
    std::vector<float> d_offset = zeros(width);
    residual_norm_row_gradients(in, moments.data(), y.data(),
                                {d_x.data(), d_y.data(), d_bias.data(), d_scale.data(), d_offset.data()});
    // A constant added to a row changes nothing.
    for (std::int64_t row = 0; row < kRows; ++row) {
      EXPECT_NEAR(0, std::accumulate(d_x.begin() + row * width, d_x.begin() + (row + 1) * width, 0.0), 1e-3);
    }
  }
}

TEST_P(Simd, BiasReluCutsBothWays) {
  constexpr std::int64_t kRows = 3;
  constexpr std::int64_t kWidth = 21;
  std::vector<float> values = some_values(kRows * kWidth, 1);
  const std::vector<float> bias = some_values(kWidth, 2);
  std::vector<float> expected = values;
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::max(0.0F, expected[i] + bias[i % kWidth]);
  add_bias_relu(values.data(), bias.data(), kRows, kWidth);
  EXPECT_EQ(expected, values);
  std::vector<float> gradient(static_cast<std::size_t>(kRows * kWidth), 1);
  std::vector<float> d_bias = zeros(kWidth);
  relu_gradient(gradient.data(), values.data(), d_bias.data(), kRows, kWidth);
  for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_EQ(values[i] > 0 ? 1 : 0, gradient[i]);
  EXPECT_EQ(std::accumulate(gradient.begin(), gradient.end(), 0.0F),
            std::accumulate(d_bias.begin(), d_bias.end(), 0.0F));
}

TEST_P(Simd, RotationThereAndBackIsNothing) {
  for (const std::int64_t width : {2, 6, 8, 22, 32}) {
    constexpr std::int64_t kHeads = 3;
    const std::vector<float> heads = some_values(kHeads * width, 1);
    std::vector<float> cosine = zeros(width);
    std::vector<float> sine = zeros(width);
    for (std::int64_t f = 0; f < width; ++f) {
      const auto angle = static_cast<float>(f / 2);
      cosine[static_cast<std::size_t>(f)] = std::cos(angle);
      sine[static_cast<std::size_t>(f)] = (f % 2 == 0 ? -1.0F : 1.0F) * std::sin(angle);
    }
    std::vector<float> turned = zeros(kHeads * width);
    std::vector<float> back = zeros(kHeads * width);
    rotate_heads(heads.data(), kHeads, width, cosine.data(), sine.data(), 1, turned.data());
    rotate_heads(turned.data(), kHeads, width, cosine.data(), sine.data(), -1, back.data());
    for (std::size_t i = 0; i < heads.size(); ++i) EXPECT_NEAR(heads[i], back[i], 1e-5);
  }
}

// Queries of zero weigh all keys alike; f with weights of zero adds its b2, which is one for all keys.
TEST_P(Simd, AttentionWithoutLogitsIsTheMeanOfValues) {
  struct Shape {
    std::int64_t heads, width, queries, keys, hidden;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1, 0}, Shape{3, 5, 17, 19, 0}, Shape{2, 8, 33, 40, 6},
                         Shape{8, 32, 5, 9, 64}, Shape{5, 3, 1, 21, 3}}) {
    const std::int64_t row = s.heads * s.width;
    const std::int64_t padded_heads = s.heads <= 2 ? 2 : 8;
    const std::vector<float> q = zeros(s.queries * row);
    const std::vector<float> k = some_values(s.keys * row, 1);
    const std::vector<float> v = some_values(s.keys * row, 2);
    const std::int64_t stride = padded_queries(s.queries);
    std::vector<float> hidden_bias = some_values(s.hidden * s.keys * stride, 3);
    const std::vector<float> mlp_weights = zeros(s.hidden * 2 * padded_heads);
    const std::vector<float> b2 = some_values(padded_heads, 4);
    const PairMlpWeights mlp{
        s.hidden, padded_heads, mlp_weights.data(), b2.data(), {hidden_bias.data(), s.keys * stride, stride}};
    const AttentionExample in{.heads = s.heads,
                              .head_width = s.width,
                              .queries = s.queries,
                              .keys = s.keys,
                              .q = q.data(),
                              .k = k.data(),
                              .v = v.data(),
                              .bias = {},
                              .mlp = s.hidden > 0 ? &mlp : nullptr};
    std::vector<float> weights = zeros(s.heads * s.keys * stride);
    std::vector<float> out = zeros(s.queries * row);
    for (std::int64_t first = 0; first < s.queries; first += kQueryTile) {
      attention_forward_tile(in, first, weights.data() + first, stride, out.data());
    }
    for (std::int64_t c = 0; c < row; ++c) {
      double mean = 0;
      for (std::int64_t key = 0; key < s.keys; ++key) {
        mean += static_cast<double>(v[static_cast<std::size_t>(key * row + c)]) / static_cast<double>(s.keys);
      }
      EXPECT_NEAR(mean, out[static_cast<std::size_t>((s.queries - 1) * row + c)], 1e-5);
    }
    std::vector<float> d_q = zeros(s.queries * row);
    std::vector<float> d_k = zeros(s.keys * row);
    std::vector<float> d_v = zeros(s.keys * row);
    std::vector<float> d_weights = zeros(s.hidden * 2 * padded_heads * kQueryTile);
    std::vector<float> d_b2 = zeros(padded_heads * kQueryTile);
    std::vector<float> d_hidden_bias = zeros(s.hidden * s.keys * stride);
    const std::vector<float> ones(static_cast<std::size_t>(s.queries * row), 1);
    attention_example_gradients(in, weights.data(), ones.data(),
                                {d_q.data(),
                                 d_k.data(),
                                 d_v.data(),
                                 {},
                                 d_weights.data(),
                                 d_b2.data(),
                                 {d_hidden_bias.data(), s.keys * stride, stride}});
    for (const float gradient : d_v) {
      EXPECT_NEAR(static_cast<double>(s.queries) / static_cast<double>(s.keys), gradient, 1e-4);
    }
    for (const float gradient : d_k) EXPECT_NEAR(0, gradient, 1e-5);
  }
}

// A constant added to all logits of a query changes nothing, so that gradients of logits sum to zero: those
// of the bias, and of f's b2 where its weights are zero. Tables by offset have their exact size.
TEST_P(Simd, GradientsOfLogitsSumToZero) {
  constexpr std::int64_t kHeads = 3;
  constexpr std::int64_t kWidth = 5;
  constexpr std::int64_t kKeys = 37;
  constexpr std::int64_t kHidden = 6;
  constexpr std::int64_t kPaddedHeads = 4;
  constexpr std::int64_t kRow = kHeads * kWidth;
  for (const std::int64_t queries : {1, 19, 37}) {
    for (const bool with_mlp : {false, true}) {
      const std::int64_t length = 2 * kKeys - 1 + kQueryTile;
      const std::int64_t first = 2 * kKeys - queries - 1;
      const std::vector<float> q = some_values(queries * kRow, 1);
      const std::vector<float> k = some_values(kKeys * kRow, 2);
      const std::vector<float> v = some_values(kKeys * kRow, 3);
      const std::vector<float> bias = some_values(kHeads * length, 4);
      const std::vector<float> hidden_bias = some_values(kHidden * length, 5);
      const std::vector<float> mlp_weights = zeros(kHidden * 2 * kPaddedHeads);
      const std::vector<float> b2 = some_values(kPaddedHeads, 6);
      const PairMlpWeights mlp{
          kHidden, kPaddedHeads, mlp_weights.data(), b2.data(), {hidden_bias.data() + first, length, -1}};
      const AttentionExample in{.heads = kHeads,
                                .head_width = kWidth,
                                .queries = queries,
                                .keys = kKeys,
                                .q = q.data(),
                                .k = k.data(),
                                .v = v.data(),
                                .bias = {bias.data() + first, length, -1},
                                .mlp = with_mlp ? &mlp : nullptr};
      const std::int64_t stride = padded_queries(queries);
      std::vector<float> weights = zeros(kHeads * kKeys * stride);
      std::vector<float> out = zeros(queries * kRow);
      for (std::int64_t tile = 0; tile < queries; tile += kQueryTile) {
        attention_forward_tile(in, tile, weights.data() + tile, stride, out.data());
      }
      const std::vector<float> d_out = some_values(queries * kRow, 7);
      std::vector<float> d_q = zeros(queries * kRow);
      std::vector<float> d_k = zeros(kKeys * kRow);
      std::vector<float> d_v = zeros(kKeys * kRow);
      std::vector<float> d_bias = zeros(kHeads * length);
      std::vector<float> d_weights = zeros(kHidden * 2 * kPaddedHeads * kQueryTile);
      std::vector<float> d_b2 = zeros(kPaddedHeads * kQueryTile);
      std::vector<float> d_hidden_bias = zeros(kHidden * length);
      attention_example_gradients(in, weights.data(), d_out.data(),
                                  {d_q.data(),
                                   d_k.data(),
                                   d_v.data(),
                                   {d_bias.data() + first, length, -1},
                                   d_weights.data(),
                                   d_b2.data(),
                                   {d_hidden_bias.data() + first, length, -1}});
      for (std::int64_t head = 0; head < kHeads; ++head) {
        const auto begin = d_bias.begin() + head * length;
        double magnitude = 0;
        for (auto value = begin; value < begin + length; ++value)
          magnitude += std::abs(static_cast<double>(*value));
        EXPECT_GT(magnitude, 0.1);
        EXPECT_NEAR(0, std::accumulate(begin, begin + length, 0.0), 1e-4);
      }
      EXPECT_NEAR(0, std::accumulate(d_b2.begin(), d_b2.end(), 0.0), 1e-4);
      EXPECT_NE(0, std::accumulate(d_q.begin(), d_q.end(), 0.0));
    }
  }
}

TEST_P(Simd, AdamsFirstStepIsTheRateWhateverTheGradient) {
  constexpr std::int64_t kCount = 4099;
  const std::vector<float> gradients = some_values(kCount, 1);
  double squares = 0;
  for (const float gradient : gradients)
    squares += static_cast<double>(gradient) * static_cast<double>(gradient);
  EXPECT_NEAR(1, sum_of_squares(gradients.data(), kCount) / squares, 1e-5);
  std::vector<float> first = zeros(kCount);
  std::vector<float> second = zeros(kCount);
  std::vector<float> values = zeros(kCount);
  adam_update({.beta1 = 0.9F,
               .beta2 = 0.999F,
               .rest1 = 0.1F,
               .rest2 = 0.001F,
               .gradient_scale = 1,
               .rate = 0.01F / 0.1F,
               .second_scale = 1 / 0.001F,
               .epsilon = 0},
              gradients.data(), first.data(), second.data(), values.data(), kCount);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(gradients[i] > 0 ? -0.01 : 0.01, values[i], 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Simd, testing::ValuesIn(kernel_targets()),
                         [](const auto& target) { return target_name(target.param); });

}  // namespace
}  // namespace che
