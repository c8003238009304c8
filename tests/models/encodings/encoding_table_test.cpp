#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_config.h"
#include "models/architectures/encoder_model.h"
#include "models/encodings/encoding.h"
#include "models/encodings/rotary.h"
#include "models/ops/rotation/rotation.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/encodings/encoding_rig.h"

namespace che {
namespace {

const Backend kBackend{Kernels::kReference, at::TensorOptions().dtype(at::kDouble)};

std::optional<EncodingTable> table_of(const std::string& label, std::int64_t tokens,
                                      const Positions& positions = Positions()) {
  EncodingConfig config;
  config.reset(label);
  Encoder model({ModelShape{.width = 8, .layers = 1, .heads = 2, .ffn_multiple = 1},
                 {2, 1},
                 create_encoding(config, {.count = kTrainedTokens})},
                1, kBackend);
  const std::vector<std::int64_t> seeds{4};
  model.parameters().initialise(seeds);
  return model.encoding_table(tokens, positions);
}

TEST(EncodingTable, WritesARowForEachCombinationOfKeys) {
  const EncodingTable table =
      make_table({"a", "b", "x", "y"}, {{7, 9}, {}}, at::arange(8, at::kDouble).view({2, 2, 2}) / 4);
  EXPECT_EQ("a,b,x,y\n7,0,0,0.25\n7,1,0.5,0.75\n9,0,1,1.25\n9,1,1.5,1.75\n", table.csv());
}

TEST(EncodingTable, HoldsAlibisBias) {
  const auto table = table_of("alibi", 3);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ((std::vector<std::string>{"head", "query", "key", "bias"}), table->columns);
  // Slopes 1/16 and 1/256; half a step less to the left.
  EXPECT_EQ("head,query,key,bias\n0,0,0,0\n0,0,1,-0.0625\n0,0,2,-0.125\n0,1,0,-0.03125\n",
            table->csv().substr(0, 70));
  EXPECT_EQ(18U, table->values.size());
  EXPECT_EQ(-2.0 / 256, table->values[9 + 2]);
}

// The hyperbolic sine in the formula overflows for the widest head.
TEST(EncodingTable, HoldsEvqForWideHeads) {
  std::vector<double> slowest;
  for (const std::int64_t width : {598, 602, 2048}) {
    EncodingConfig config;
    config.reset("rope");
    config.set_options({{"frequencies", "evq"}});
    Encoder model({ModelShape{.width = width, .layers = 1, .heads = 1, .ffn_multiple = 1},
                   {2, 1},
                   create_encoding(config, {.count = 4})},
                  1, kBackend);
    slowest.push_back(model.encoding_table(2, Positions())->values.back());
  }
  // Position 1 turns the last pair by 10000^(ln(1 / width) / tau), tau = width / 2.
  for (std::size_t i = 0; i < slowest.size(); ++i) {
    const double width = std::array{598, 602, 2048}[i];
    EXPECT_NEAR(std::sin(std::pow(10000, -2 * std::log(width) / width)), slowest[i], 1e-9);
  }
}

TEST(EncodingTable, HoldsRopesRotations) {
  const auto table = table_of("rope", 5);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ((std::vector<std::string>{"position", "pair", "cos", "sin"}), table->columns);
  ASSERT_EQ(20U, table->values.size());
  // The pair (1, 0) turns to (cos, sin).
  const at::Tensor unit = at::tensor({1, 0, 1, 0}, at::kDouble).expand({1, 1, 5, 1, 4});
  const at::Tensor turns = sines_and_cosines({rotary_angles({0, 1, 2, 3, 4}, rotary_frequencies(4, 10000))});
  const at::Tensor turned = rotate(unit, turns[0], turns[1], kBackend).contiguous();
  for (std::size_t i = 0; i < table->values.size(); ++i) {
    EXPECT_NEAR(turned.data_ptr<double>()[i], table->values[i], 1e-12) << i;
  }
  EXPECT_NEAR(std::cos(3 * 0.01), table->values[3 * 4 + 2], 1e-12);
}

TEST(EncodingTable, HoldsWhatIsAddedToTheEmbedding) {
  const Positions positions = Positions::drawn(PositionSource::kRandomized, 64, 1, Purpose::kPositions, 0);
  for (const char* label : {"sin_cos", "learned"}) {
    const auto table = table_of(label, 5, positions);
    ASSERT_TRUE(table.has_value()) << label;
    EXPECT_EQ((std::vector<std::string>{"position", "feature", "value"}), table->columns);
    EXPECT_EQ(positions.of_tokens(Positions::kEmbeddingLayer, 5), table->keys[0]);
    EXPECT_EQ(40U, table->values.size());
  }
  const auto sines = table_of("sin_cos", 5, positions);
  const double second = sines->keys[0][1];
  EXPECT_NEAR(std::sin(second * 0.1), sines->values[8 + 1], 1e-12);
  EXPECT_NEAR(std::cos(second * 0.1), sines->values[8 + 5], 1e-12);
}

TEST(EncodingTable, HoldsTheSinusoidOfEveryOffset) {
  const Positions positions = Positions::drawn(PositionSource::kRandomized, 64, 1, Purpose::kPositions, 0);
  const auto table = table_of("relative", 4, positions);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ((std::vector<std::string>{"offset", "feature", "distance", "value"}), table->columns);
  EXPECT_EQ((Positions::List{-3, -2, -1, 0, 1, 2, 3}), table->keys[0]);
  const Positions::List drawn = positions.of_offsets(0, 4);
  for (std::size_t row = 0; row < 7; ++row) {
    const auto offset = static_cast<std::int64_t>(table->keys[0][row]);
    const double distance = (offset < 0 ? -1 : 1) * drawn[static_cast<std::size_t>(std::abs(offset))];
    EXPECT_EQ(distance, table->values[2 * 8 * row]);
    EXPECT_NEAR(std::sin(distance), table->values[2 * 8 * row + 1], 1e-12);
  }
}

TEST(EncodingTable, IsThereForAllButWhatTakesAnInput) {
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    EXPECT_EQ(name != "none" && name != "cope" && name != "fox" && name != "selective_rope",
              table_of(name, 4).has_value())
        << name;
    if (Registry<EncodingEntry>::instance().get(name).gives_bias) {
      EXPECT_FALSE(table_of("dape_" + name, 4).has_value()) << name;
    }
  }
}

}  // namespace
}  // namespace che
