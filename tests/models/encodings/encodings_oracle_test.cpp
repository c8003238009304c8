// Every registered encoding, with every combination of its options, against its formula written a
// second time in loops.
#include <ATen/ATen.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "models/settings/encoding_entry.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/encodings/encoding_oracles.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

constexpr std::int64_t kMaxPosition = 1000;

std::string text_of(const EncodingConfig& config) {
  std::string text = config.form().text();
  for (const auto& [name, value] : config.all_options().values()) text += " " + name + "=" + value;
  text += fmt::format(" scale {}", static_cast<int>(config.attention_scale));
  if (!config.dape) return text;
  for (const auto& [name, value] : AnyOptions(*config.dape).values()) text += " dape." + name + "=" + value;
  return text;
}

// Everything that a config may say of encoding `name`.
std::vector<EncodingConfig> configs_of(const std::string& name) {
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
  std::vector<EncodingConfig> configs;
  for (const OptionValues& options : option_combinations(name)) {
    for (const auto positions : {PositionSource::kContiguous, PositionSource::kRandomized,
                                 PositionSource::kEqualMean, PositionSource::kRandomizedReal}) {
      EncodingConfig config;
      config.name = name;
      config.set_options(options);
      config.positions = positions;
      if (config.problem()) continue;
      if (is_real(positions)) {
        const ModelShape shape{.width = 12, .heads = 3};
        if (!entry.problem({shape, 7, kMaxPosition, config.options, {}, positions}))
          configs.push_back(config);
        continue;
      }
      configs.push_back(config);
      if (entry.does_nothing) {
        for (const DapeKernel kernel : {DapeKernel::kOneKey, DapeKernel::kThreeKeys}) {
          config.dape = DapeOptions{.hidden = 5, .variant = DapeVariant::kAttentionOnly, .kernel = kernel};
          configs.push_back(config);
        }
      }
      if (!entry.gives_bias) continue;
      for (const DapeVariant variant : dape_variants()) {
        config.dape = DapeOptions{.hidden = 5, .variant = variant};
        configs.push_back(config);
      }
      config.dape = DapeOptions{.hidden = 5, .kernel = DapeKernel::kThreeKeys};
      configs.push_back(config);
    }
  }
  // Every scale, plain and inside DAPE, with one choice of the other options.
  for (const AttentionScale scale : {AttentionScale::kLogN, AttentionScale::kSsmax}) {
    EncodingConfig config;
    config.name = name;
    config.attention_scale = scale;
    configs.push_back(config);
    if (!entry.takes_dape()) continue;
    config.dape = entry.default_dape();
    config.dape->hidden = 5;
    configs.push_back(config);
  }
  return configs;
}

// The same in an encoder and in a decoder.
std::vector<std::pair<EncodingConfig, bool>> forms_of(const std::string& name) {
  std::vector<std::pair<EncodingConfig, bool>> forms;
  for (const EncodingConfig& config : configs_of(name)) {
    forms.emplace_back(config, false);
    forms.emplace_back(config, true);
  }
  return forms;
}

Positions positions_of(const EncodingConfig& config) {
  if (config.positions == PositionSource::kContiguous) return {};
  return Positions::drawn(config.positions, kMaxPosition, 5, Purpose::kPositions, 3);
}

OracleInput input_of(const EncodingConfig& config, const EncodingRig& rig, const at::Tensor& q,
                     const at::Tensor& k, const Positions& positions, std::int64_t layer) {
  const std::int64_t tokens = q.size(2);
  const auto element = [](const at::Tensor& tensor) {
    return
        [values = tensor.accessor<double, 5>()](std::int64_t head, std::int64_t token, std::int64_t feature) {
          return values[0][0][token][head][feature];
        };
  };
  return {.heads = rig.shape().heads,
          .head_width = rig.shape().head_width(),
          .tokens = tokens,
          .causal = rig.shape().causal,
          .positions = positions.of_tokens(layer, tokens),
          .input_positions = positions.of_tokens(Positions::kEmbeddingLayer, tokens),
          .offsets = positions.of_offsets(layer, tokens),
          .max_position = config.position_limit() > 0 ? kMaxPosition : 0,
          .trained_tokens = kTrainedTokens,
          .options = config.all_options().values(),
          .dape = config.dape,
          .scale = config.attention_scale,
          .q = element(q),
          .k = element(k),
          .parameter = [&rig, layer](const std::string& name, const std::vector<std::int64_t>& index) {
            const at::Tensor& value = rig.parameter(layer, name);  // The first replica's.
            std::int64_t offset = 0;
            for (std::size_t i = 0; i < index.size(); ++i)
              offset += index[i] * value.stride(static_cast<std::int64_t>(i) + 1);
            return value.data_ptr<double>()[offset];
          }};
}

class EncodingOracles : public testing::TestWithParam<std::string> {};

TEST_P(EncodingOracles, Agree) {
  const auto found = encoding_oracles().find(GetParam());
  ASSERT_NE(found, encoding_oracles().end()) << GetParam() << " is registered and has no oracle";
  constexpr std::int64_t kTokens = 7;
  constexpr std::int64_t kLayer = 1;
  for (const auto& [one, causal] : forms_of(GetParam())) {
    EncodingConfig config = one;
    SCOPED_TRACE(text_of(config) + (causal ? " causal" : ""));
    // Small enough that FIRE's normalizer takes either side of its maximum.
    if (config.all_options().values().contains("length")) config.set_options({{"length", "4"}});
    for (const char* width : {"hidden", "rank"}) {
      if (config.all_options().values().contains(width)) config.set_options({{width, "3"}});
    }
    // Three heads: no power of two.
    const ModelShape shape{.width = 12, .layers = 2, .heads = 3, .ffn_multiple = 1, .causal = causal};
    EncodingRig rig(config, shape, 1);
    rig.randomise(17);
    const at::Tensor q = some_numbers({1, 1, kTokens, 3, 4}, 1);
    const at::Tensor k = some_numbers({1, 1, kTokens, 3, 4}, 2);
    const auto positions = positions_of(config);
    const OracleInput input = input_of(config, rig, q, k, positions, kLayer);

    const at::Tensor expected = at::zeros({3, kTokens, kTokens}, at::kDouble);
    for (std::int64_t h = 0; h < 3; ++h) {
      for (std::int64_t i = 0; i < kTokens; ++i) {
        for (std::int64_t j = 0; j < (causal ? i + 1 : kTokens); ++j) {
          expected.index_put_({at::tensor(h), at::tensor(i), at::tensor(j)},
                              at::scalar_tensor(oracle_logit(found->second, input, h, i, j), at::kDouble));
        }
      }
    }
    for (const std::int64_t first_query : {std::int64_t{0}, std::int64_t{4}, kTokens - 1}) {
      const at::Tensor logits = rig.logits(q, k, positions, kLayer, first_query)[0][0];
      EXPECT_EQ("",
                difference(causal ? logits.tril(first_query) : logits, expected.slice(1, first_query), 1e-9))
          << "first query " << first_query;
    }

    const at::Tensor added = rig.embedding(kTokens, positions);
    ASSERT_EQ(static_cast<bool>(found->second.embedding), added.defined());
    if (!added.defined()) continue;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      for (std::int64_t f = 0; f < shape.width; ++f) {
        EXPECT_NEAR(found->second.embedding(input, t, f),
                    added.expand({1, 1, kTokens, shape.width})[0][0][t][f].item<double>(), 1e-9);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EncodingOracles,
                         testing::ValuesIn(Registry<EncodingEntry>::instance().names()),
                         [](const auto& name) { return name.param; });

// Distances that the small cases above do not reach: past every bucket's edge.
TEST(T5, BucketsAreTheReleasedOnes) {
  constexpr std::int64_t kTokens = 300;
  EncodingConfig config;
  config.reset("t5");
  EncodingRig rig(config, {.width = 2, .layers = 1, .heads = 1, .ffn_multiple = 1}, 1);
  const EncodingRig decoder(config, {.width = 2, .layers = 1, .heads = 1, .ffn_multiple = 1, .causal = true},
                            1);
  decoder.parameter(0, "table").data().copy_(at::arange(32, at::kDouble).view({1, 1, 32}));
  rig.parameter(0, "table").data().copy_(at::arange(32, at::kDouble).view({1, 1, 32}));
  const at::Tensor zero = at::zeros({1, 1, kTokens, 1, 2}, at::kDouble);
  const Positions positions;
  const at::Tensor buckets = rig.logits(zero, zero, positions)[0][0][0];
  OracleInput input = input_of(config, rig, zero, zero, positions, 0);
  const EncodingOracle& oracle = encoding_oracles().at("t5");
  for (std::int64_t n = 0; n < kTokens; ++n) {
    EXPECT_EQ(oracle.bias(input, 0, 0, n), buckets[0][n].item<double>()) << n << " to the right";
    EXPECT_EQ(oracle.bias(input, 0, n, 0), buckets[n][0].item<double>()) << n << " to the left";
  }
  input.causal = true;
  const at::Tensor of_decoder = decoder.logits(zero, zero, positions)[0][0][0];
  for (std::int64_t n = 0; n < kTokens; ++n) {
    EXPECT_EQ(oracle.bias(input, 0, n, 0), of_decoder[n][0].item<double>()) << n << " in a decoder";
  }
  EXPECT_EQ(31, of_decoder[113][0].item<double>());
  EXPECT_EQ(30, of_decoder[112][0].item<double>());
  EXPECT_EQ(31, buckets[0][91].item<double>());
  EXPECT_EQ(14, buckets[90][0].item<double>());
}

// Enough pairs for each part of YaRN's ramp, and a share of pairs that stand still.
TEST(Rope, ScalesTheFrequenciesOfManyPairs) {
  const EncodingOracle& oracle = encoding_oracles().at("rope");
  const ModelShape shape{.width = 32, .layers = 1, .heads = 1, .ffn_multiple = 1};
  const Positions positions;
  for (const std::string scaling : {"none", "linear", "ntk", "yarn"}) {
    for (const std::int64_t tokens : {kTrainedTokens, 5 * kTrainedTokens}) {
      SCOPED_TRACE(fmt::format("{} {}", scaling, tokens));
      EncodingConfig config;
      config.reset("rope");
      // The ramp lies between pairs 1 and 12.
      config.set_options(
          {{"scaling", scaling}, {"fraction", "0.9"}, {"beta_fast", "0.3"}, {"beta_slow", "0.001"}});
      const EncodingRig rig(config, shape, 1);
      const at::Tensor q = some_numbers({1, 1, tokens, 1, 32}, 1);
      const at::Tensor k = some_numbers({1, 1, tokens, 1, 32}, 2);
      const OracleInput input = input_of(config, rig, q, k, positions, 0);
      const at::Tensor logits = rig.logits(q, k, positions)[0][0][0];
      for (const std::int64_t j : {std::int64_t{0}, tokens / 2, tokens - 1}) {
        EXPECT_NEAR(oracle_logit(oracle, input, 0, tokens - 1, j), logits[tokens - 1][j].item<double>(),
                    1e-9);
      }
    }
  }
}

// A count beyond the table stays at its last row.
TEST(Cope, ClampsItsPositions) {
  constexpr std::int64_t kTokens = 150;
  EncodingConfig config;
  config.reset("cope");
  EncodingRig rig(config, {.width = 2, .layers = 1, .heads = 1, .ffn_multiple = 1}, 1);
  const at::Tensor ramp = at::arange(64, at::kDouble).view({1, 1, 64}).expand({1, 2, 64});
  rig.parameter(0, "e_left").data().copy_(ramp);
  rig.parameter(0, "e_right").data().copy_(-ramp);
  // q k = 0: every gate is a half. q E = the position.
  const at::Tensor q = at::full({1, 1, kTokens, 1, 2}, 0.5, at::kDouble);
  const at::Tensor logits = rig.logits(q, at::zeros_like(q), Positions())[0][0][0];
  for (std::int64_t n = 0; n < kTokens; ++n) {
    const double expected = std::min(63.0, 0.5 * static_cast<double>(n + 1));
    EXPECT_DOUBLE_EQ(expected, logits[n][0].item<double>()) << n;
    EXPECT_DOUBLE_EQ(n == 0 ? expected : -expected, logits[0][n].item<double>()) << n;
  }
}

}  // namespace
}  // namespace che
