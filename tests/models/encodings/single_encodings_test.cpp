// What only one encoding does.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/learn/model_factory.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "models/settings/encoding_entry.h"
#include "tests/message_of.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

TEST(Dape, FusedVariantsEqualTheReference) {
  for (const DapeVariant variant : dape_variants()) {
    for (const char* label : {"dape_kerple", "randomized_dape_alibi", "dape_fire"}) {
      SCOPED_TRACE(word_of(variant) + " of " + label);
      RunConfig config = small_config(label);
      config.encoding.dape->variant = variant;
      expect_fused_equals_reference(config);
    }
  }
}

TEST(Encodings, DapeNeedsABias) { EXPECT_THROW(create_encoding("rope", {}, DapeOptions{}), Error); }

// With f's output layer zero, f vanishes: the residual variants are the base, the others no bias.
TEST(Dape, WithoutItsMlpIsTheBaseOrNothing) {
  // (FIRE has another MLP inside DAPE.)
  for (const std::string base : {"alibi", "kerple", "t5"}) {
    for (const DapeVariant variant : dape_variants()) {
      SCOPED_TRACE(base + " " + word_of(variant));
      RunConfig config = small_config("dape_" + base);
      config.encoding.dape->variant = variant;
      const auto wrapped = initialised(config, {3});
      const at::Tensor tokens = some_tokens(2, 9);
      for (const char* layer : {"layer0.attn.dape.", "layer1.attn.dape."}) {
        for (const char* name : {"w2", "b2"}) wrapped->parameters()[std::string(layer) + name].data().zero_();
      }
      const bool residual = config.encoding.dape->adds_bias();
      const RunConfig plain_config = small_config(residual ? base : "none");
      const at::Tensor expected = forward(*initialised(plain_config, {3}), plain_config, tokens, 4);
      EXPECT_EQ("", difference(forward(*wrapped, config, tokens, 4), expected, 1e-6));
    }
  }
}

// With s_h = 1 / log L it is log_n, whose factor is 1 at the longest training sequence.
TEST(AttentionScale, SsmaxContainsLogN) {
  RunConfig config = small_config("rope");
  const double trained = static_cast<double>(config.longest_training_sequence());
  const at::Tensor longest = some_tokens(2, config.longest_training_sequence());
  const at::Tensor plain = forward(*initialised(config, {3}), config, longest, 4);
  config.encoding.attention_scale = AttentionScale::kLogN;
  EXPECT_EQ("", difference(forward(*initialised(config, {3}), config, longest, 4), plain, 1e-5));
  const at::Tensor tokens = some_tokens(2, 9);
  const at::Tensor expected = forward(*initialised(config, {3}), config, tokens, 4);
  config.encoding.attention_scale = AttentionScale::kSsmax;
  const auto model = initialised(config, {3});
  for (const char* name : {"layer0.attn.scale", "layer1.attn.scale"}) {
    model->parameters()[name].data().fill_(1 / std::log(trained));
  }
  EXPECT_EQ("", difference(forward(*model, config, tokens, 4), expected, 1e-5));
}

// Positions that are no whole numbers may be closer than half a unit.
TEST(HalfOffset, GivesNoNegativeDistance) {
  RunConfig config = small_config("kerple");
  config.encoding.options = Registry<EncodingEntry>::instance().get("kerple").options.with(
      {{"kind", "power"}, {"direction", "half_offset"}});
  config.encoding.positions = PositionSource::kRandomizedReal;
  config.encoding.max_position = 12;
  EncodingRig rig(config.encoding, config.model.shape(), 1);
  rig.randomise(3);
  const at::Tensor q = some_numbers({1, 1, 9, 2, 8}, 1);
  double least = 1;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Positions positions = create_positions(config, 5, Purpose::kPositions, step);
    least = std::min(least, positions.of_offsets(0, 9)[1]);
    EXPECT_TRUE(at::isfinite(rig.logits(q, q, positions, 0)).all().item<bool>()) << step;
  }
  EXPECT_LT(least, 0.5);
}

// Inside DAPE, too, whose f sees every key.
TEST(AttentionWindow, IsAMaskAfterTheLogitsOfEveryEncodingInBothKernels) {
  for (const std::string& label : all_labels()) {
    SCOPED_TRACE(label);
    RunConfig config = small_config(label);
    EncodingRig plain(config.encoding, config.model.shape(), 1);
    config.encoding.window = {.reach = 2, .heads = 1};
    EncodingRig rig(config.encoding, config.model.shape(), 1);
    plain.randomise(3);
    rig.randomise(3);
    const at::Tensor q = some_numbers({1, 1, 9, 2, 8}, 1);
    const at::Tensor k = some_numbers({1, 1, 9, 2, 8}, 2);
    constexpr std::int64_t kFirstQuery = 3;
    const at::Tensor expected = plain.logits(q, k, Positions(), 0, kFirstQuery)[0][0];
    const at::Tensor cut = rig.logits(q, k, Positions(), 0, kFirstQuery)[0][0];
    const at::Tensor token = at::arange(9);
    const at::Tensor is_near = (token.unsqueeze(0) - token.slice(0, kFirstQuery).unsqueeze(1)).abs().le(2);
    EXPECT_TRUE(at::equal(expected[1], cut[1])) << "a head without a window";
    EXPECT_TRUE(at::equal(expected[0].masked_select(is_near), cut[0].masked_select(is_near)));
    EXPECT_LT(cut[0].masked_select(is_near.logical_not()).max().item<double>(), kOutOfSight / 2);
    expect_fused_equals_reference(config);
    EXPECT_NE("", difference(forward(*initialised(config, {3}), config, some_tokens(2, 9), 4),
                             forward(*initialised(small_config(label), {3}), small_config(label),
                                     some_tokens(2, 9), 4),
                             1e-4));
  }
}

// Evaluation goes through the queries in blocks where a bias is by pair, and the mask is by offset.
TEST(AttentionWindow, IsTheSameMaskInBlocksOfQueries) {
  constexpr std::int64_t kTokens = 40;
  for (const DapeVariant variant : dape_variants()) {
    for (const char* label : {"dape_kerple", "randomized_dape_alibi", "dape_fire"}) {
      SCOPED_TRACE(word_of(variant) + " of " + label);
      RunConfig config = small_config(label);
      config.encoding.dape->variant = variant;
      config.encoding.window = {.reach = 2, .heads = 1};
      const auto positions = create_positions(config, 5, Purpose::kPositions, kTokens);
      const auto outcome = [&](Kernels kernels) {
        config.execution.kernels = kernels;
        const c10::NoGradGuard no_grad;
        return initialised(config, {3})->forward(some_tokens(2, kTokens), 4, {.positions = positions});
      };
      EXPECT_EQ("", difference(outcome(Kernels::kFused), outcome(Kernels::kReference), 1e-5));
    }
  }
}

TEST(AttentionWindow, NeedsItsHeadsAndAnIdOfItsOwn) {
  RunConfig config = small_config("rope");
  const std::string id = run_id(config);
  config.encoding.window.heads = 3;
  EXPECT_EQ(id, run_id(config)) << "nothing reads it without a window";
  EXPECT_EQ("(no error)", message_of([&] { config.check(); }));
  config.encoding.window.reach = 5;
  EXPECT_NE(id, run_id(config));
  EXPECT_EQ("rope(window=5, window_heads=3)", config.encoding.label().text());
  EXPECT_EQ(
      "encoding.window_heads, model.heads: 3 heads are to have a window, and the model has 2; allowed: 1 to "
      "2",
      message_of([&] { config.check(); }));
}

// Training draws a stretch, the same for distances and positions; tests have 0, 1, 2, ...
TEST(EqualMean, StretchesTrainingAlone) {
  RunConfig config = small_config("kerple");
  const std::string id = run_id(config);
  config.encoding.positions = PositionSource::kEqualMean;
  EXPECT_NE(id, run_id(config));
  EXPECT_EQ("kerple(positions=equal_mean)", config.encoding.label().text());
  EXPECT_FALSE(create_positions(config, 0, Purpose::kPositions, 0).contiguous());
  EXPECT_TRUE(create_positions(config, 0, Purpose::kEvaluationPositions, 0).contiguous());
  config.encoding.positions = PositionSource::kRandomizedReal;
  EXPECT_TRUE(create_positions(config, 0, Purpose::kEvaluationPositions, 0).draws_distances());
}

TEST(RealPositions, AreRefusedByTables) {
  for (const auto source : {PositionSource::kEqualMean, PositionSource::kRandomizedReal}) {
    const auto message = [&](const char* label, const OptionValues& options = {}) {
      RunConfig config = small_config(label);
      config.encoding.positions = source;
      config.encoding.set_options(options);
      return message_of([&] { config.check(); });
    };
    for (const std::string name : {"learned", "t5", "sandwich"}) {
      EXPECT_EQ(
          "encoding.positions: " + name +
              " has a table by whole positions, and these are fractions; allowed: contiguous, randomized",
          message(name.c_str()));
    }
    EXPECT_EQ(
        "encoding.randomized_relative, encoding.positions: randomized_relative: as_released reads a table at "
        "whole distances; set it to intended, or positions to contiguous or randomized",
        message("relative", {{"randomized_relative", "as_released"}}));
    EXPECT_EQ("encoding.positions: fox reads no positions; allowed: contiguous", message("fox"));
    for (const char* label : {"sin_cos", "rope", "relative", "kerple", "dape_fire", "position_mlp", "pope"}) {
      EXPECT_EQ("(no error)", message(label)) << label;
    }
  }
}

// Alone, inside DAPE and in a decoder; distance 0 has no logarithm.
TEST(Kerple, APowerIsFusedAndHasFiniteGradients) {
  for (const char* label :
       {"kerple", "randomized_kerple", "dape_kerple", "decoder_kerple", "decoder_dape_kerple"}) {
    SCOPED_TRACE(label);
    RunConfig config = small_config(label);
    config.encoding.max_position = 16;  // At greater distances softmax has no gradient left.
    config.encoding.set_options({{"kind", "power"}});
    expect_fused_equals_reference(config);
    const auto model = initialised(config, {3, 4});
    forward(*model, config, some_tokens(2, 9), 4).square().sum().backward();
    for (const char* name : {"layer0.attn.p", "layer0.attn.a"}) {
      const at::Tensor gradient = model->parameters()[name].grad();
      EXPECT_TRUE(at::isfinite(gradient).all().item<bool>()) << name;
      EXPECT_TRUE(gradient.ne(0).all().item<bool>()) << name;
    }
  }
}

TEST(Kerple, KeepsAPowerInItsRange) {
  RunConfig config = small_config("kerple");
  const auto largest = [&] {
    const auto model = initialised(config, {3});
    for (const char* name : {"layer0.attn.p", "layer0.attn.a"}) model->parameters()[name].data().fill_(3);
    model->project();
    return std::pair(model->parameters()["layer0.attn.p"].max().item<float>(),
                     model->parameters()["layer0.attn.a"].max().item<float>());
  };
  EXPECT_EQ(largest(), std::pair(3.0F, 3.0F));
  config.encoding.set_options({{"kind", "power"}});
  EXPECT_EQ(largest(), std::pair(2.0F, 3.0F));
}

// FIRE divides by the position beyond its threshold, and there shifts matter.
TEST(Fire, IsNotInvariantToShiftsBeyondItsThreshold) {
  EncodingConfig config;
  config.reset("fire");
  config.set_options({{"length", "3"}});
  EncodingRig rig(config, {.width = 16, .layers = 1, .heads = 2, .ffn_multiple = 2}, 1);
  rig.randomise(7);
  const at::Tensor zero = at::zeros({1, 1, 12, 2, 8}, at::kDouble);
  const at::Tensor logits = rig.logits(zero, zero, Positions());
  EXPECT_NE("", difference(logits.slice(3, 1).slice(4, 1), logits.slice(3, 0, 11).slice(4, 0, 11), 1e-6));
}

std::string check_message(const std::string& encoding, const OptionValues& options,
                          std::int64_t max_position) {
  RunConfig config = small_config(encoding);
  config.encoding.set_options(options);
  config.encoding.max_position = max_position;
  config.evaluation.last_length = 500;
  return message_of([&] { config.check(); });
}

TEST(Learned, NeedsARowForEveryPosition) {
  EXPECT_EQ("(no error)", check_message("learned", {{"rows", "1000"}}, 7));
  EXPECT_EQ(
      "encoding.rows: learned has rows for 999 positions and the longest sequence has 1000 tokens; raise "
      "rows to 1000, or train and test on shorter lengths",
      check_message("learned", {{"rows", "999"}}, 4096));
  EXPECT_EQ("(no error)", check_message("randomized_learned", {{"rows", "2048"}}, 2048));
  EXPECT_EQ(
      "encoding.rows: learned has rows for 2048 positions and encoding.max_position is 2049; raise rows to "
      "2049 or lower max_position",
      check_message("randomized_learned", {{"rows", "2048"}}, 2049));
}

TEST(Learned, RowsArePartOfARunsIdentity) {
  RunConfig config = small_config("learned");
  const std::string id = run_id(config);
  config.encoding.max_position = 100;
  EXPECT_EQ(id, run_id(config)) << "contiguous positions do not read it";
  config.encoding.set_options({{"rows", "1000"}});
  EXPECT_NE(id, run_id(config));
}

// Ids of runs that program version 0.1.0 stored, when half_offset was the default direction of kerple and
// fire.
TEST(Encodings, RunsStoredUnderAnOlderDefaultKeepTheirIds) {
  const auto id = [](const std::string& label, const char* direction) {
    RunConfig config;
    config.task.reset("even_pairs");
    config.encoding.reset(label);
    config.encoding.set_options({{"direction", direction}});
    config.learning_rate = 1e-3;
    config.model.shape().width = 64;
    config.model.shape().layers = 3;
    config.training.steps = 4800;
    config.training.batch_size = 32;
    return run_id(config);
  };
  for (const auto& [label, stored] : {std::pair("kerple", "even_pairs-kerple-lr0.001-seed0-18c5f1053b8f"),
                                      {"fire", "even_pairs-fire-lr0.001-seed0-9bda67afc05a"},
                                      {"dape_kerple", "even_pairs-dape_kerple-lr0.001-seed0-09caab60a3de"}}) {
    EXPECT_EQ(stored, id(label, "half_offset"));
    EXPECT_NE(stored, id(label, "symmetric")) << "today's default is another run";
  }
}

TEST(Fire, InsideDapeHasTheWidthOfDape) {
  RunConfig config = small_config("fire");
  config.encoding.set_options({{"hidden", "16"}});
  config.check();
  EXPECT_EQ(std::vector<std::int64_t>{16},
            create_model(config, 1)->parameters()["layer0.attn.fire.b1"].sizes().slice(1).vec());
  config.encoding.dape.emplace();
  EXPECT_EQ(
      "encoding.hidden: inside DAPE the network of fire has the width of encoding.dape.hidden (64); set "
      "that one instead",
      message_of([&] { config.check(); }));
}

TEST(Rope, EvqStandsBesideNoScaling) {
  EXPECT_EQ("(no error)", check_message("rope", {{"frequencies", "evq"}}, 4096));
  EXPECT_EQ("(no error)", check_message("randomized_rope", {{"frequencies", "evq"}}, 4096));
  EXPECT_EQ(
      "encoding.scaling, encoding.frequencies: scaling: linear is defined for geometric frequencies; set one "
      "of "
      "the two to its default",
      check_message("rope", {{"frequencies", "evq"}, {"scaling", "linear"}}, 4096));
  RunConfig config = small_config("rope");
  config.encoding.set_options({{"frequencies", "evq"}});
  expect_fused_equals_reference(config);
}

TEST(Rope, AFractionIsOfWholePairs) {
  EXPECT_EQ("(no error)", check_message("rope", {{"fraction", "0"}}, 4096));
  EXPECT_EQ("(no error)", check_message("rope", {{"fraction", "0.5"}}, 4096));
  expect_contains(check_message("rope", {{"fraction", "0.001"}}, 4096),
                  {"encoding.fraction, model.width", "less than one pair"});
}

TEST(Encodings, OfPairsNeedAnEvenWidth) {
  for (const char* label : {"relative", "rope", "selective_rope"}) {
    RunConfig config = small_config(label);
    config.model.shape() = {.width = 15, .layers = 2, .heads = 3, .ffn_multiple = 2};
    EXPECT_THROW(config.check(), Error) << label;
  }
}

}  // namespace
}  // namespace che
