// What every registered encoding must do, plain, over randomized positions and wrapped by DAPE.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/plan/run_workload.h"
#include "experiments/published/paper_table.h"
#include "models/architectures/encoder_model.h"
#include "models/ops/batch_score/batch_score.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

class EveryEncoding : public testing::TestWithParam<std::string> {
 protected:
  RunConfig config_ = small_config(GetParam());
  bool is_causal_ = config_.model.entry().is_causal;
  bool sees_neighbours_ = config_.encoding.dape && config_.encoding.dape->taps() > 1;  // DAPE V2
};

TEST_P(EveryEncoding, GivesFiniteGradientsToEveryParameter) {
  const auto model = initialised(config_, {3});
  const at::Tensor logits = forward(*model, config_, some_tokens(4, 9), 4);
  ASSERT_EQ((std::vector<std::int64_t>{1, 4, 4, 2}), logits.sizes().vec());
  score_batch(logits, at::ones({4, 4}, at::kLong), at::ones({4, 4}, at::kByte), model->backend())
      .loss.sum()
      .backward();
  for (const ParameterSpec& spec : model->parameters().specs()) {
    const at::Tensor gradient = model->parameters()[spec.name].grad();
    EXPECT_TRUE(at::isfinite(gradient).all().item<bool>()) << spec.name;
    EXPECT_GT(gradient.abs().sum().item<double>(), 0) << spec.name << " has no influence";
  }
}

TEST_P(EveryEncoding, ComputesTheLastLayerForOutputTokensAlone) {
  const auto model = initialised(config_, {3});
  const at::Tensor tokens = some_tokens(2, 9);
  const at::Tensor all = forward(*model, config_, tokens, 9);
  EXPECT_EQ("", difference(forward(*model, config_, tokens, 3), all.slice(2, 6), 1e-6));
}

TEST_P(EveryEncoding, ReachesBeyondTrainingLengths) {
  const auto model = initialised(config_, {3});
  EXPECT_TRUE(at::isfinite(forward(*model, config_, some_tokens(1, 200), 100)).all().item<bool>());
}

TEST_P(EveryEncoding, ReplicasEqualSingleRuns) {
  const at::Tensor tokens = some_tokens(3, 9);
  const at::Tensor both = forward(*initialised(config_, {3, 4}), config_, tokens, 4);
  EXPECT_EQ("",
            difference(both.slice(0, 0, 1), forward(*initialised(config_, {3}), config_, tokens, 4), 1e-6));
  EXPECT_EQ("",
            difference(both.slice(0, 1, 2), forward(*initialised(config_, {4}), config_, tokens, 4), 1e-6));
  EXPECT_NE("", difference(both.slice(0, 0, 1), both.slice(0, 1, 2), 1e-2)) << "seeds make no difference";
}

TEST_P(EveryEncoding, KeepsReplicasApart) {
  const auto model = initialised(config_, {3, 4, 5});
  const at::Tensor tokens = some_tokens(3, 9);
  const at::Tensor before = forward(*model, config_, tokens, 4).detach().clone();
  model->parameters().values()[1].mul_(1.5);
  const at::Tensor after = forward(*model, config_, tokens, 4);
  EXPECT_TRUE(at::equal(before[0], after[0]));
  EXPECT_FALSE(at::equal(before[1], after[1]));
  EXPECT_TRUE(at::equal(before[2], after[2]));
}

TEST_P(EveryEncoding, FusedKernelsEqualTheReference) { expect_fused_equals_reference(config_); }

// A token of a decoder knows nothing of those after it, whichever kernels compute it.
TEST_P(EveryEncoding, ReadsLaterTokensUnlessItIsInADecoder) {
  constexpr std::int64_t kTokens = 21;  // More than a tile of queries.
  const at::Tensor tokens = some_tokens(2, kTokens);
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    config_.execution.kernels = kernels;
    for (const std::vector<std::int64_t>& seeds : {std::vector<std::int64_t>{3}, {3, 4, 5}}) {
      SCOPED_TRACE(kernels_name(kernels) + ", replicas " + std::to_string(seeds.size()));
      const auto model = initialised(config_, seeds);
      const at::Tensor before = forward(*model, config_, tokens, kTokens);
      for (const std::int64_t changed : {std::int64_t{1}, std::int64_t{9}, std::int64_t{17}, kTokens - 1}) {
        at::Tensor others = tokens.clone();
        others.select(1, changed).add_(1).remainder_(3);
        const at::Tensor after = forward(*model, config_, others, kTokens);
        EXPECT_EQ(is_causal_, at::equal(before.slice(2, 0, changed), after.slice(2, 0, changed))) << changed;
        EXPECT_FALSE(at::equal(before.select(2, changed), after.select(2, changed))) << changed;
      }
      if (!is_causal_ || config_.encoding.is_randomized() || sees_neighbours_) continue;
      const at::Tensor of_prefix = forward(*model, config_, tokens.slice(1, 0, 10), 10);
      EXPECT_EQ("", difference(of_prefix, before.slice(2, 0, 10), 1e-5));
    }
  }
}

// What is no number in a token of a decoder reaches those behind it alone.
TEST_P(EveryEncoding, KeepsEarlierTokensOfADecoderFromWhatIsNoNumber) {
  if (!is_causal_) return;
  constexpr std::int64_t kTokens = 40;
  constexpr std::int64_t kSymbols = Embedding::kMostOneHot + 1;  // Rows of the embedding are no products.
  ModelShape shape = config_.model.shape();
  shape.causal = true;
  const at::Tensor tokens = some_tokens(2, kTokens);
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    SCOPED_TRACE(kernels_name(kernels));
    Encoder model({shape, {kSymbols, 2}, create_encoding(config_.encoding, {.count = kTokens})}, 1,
                  {kernels, at::TensorOptions().dtype(at::kFloat)});
    model.parameters().initialise(std::vector<std::int64_t>{3});
    model.parameters()["embed.w"].data().select(1, kSymbols - 1).fill_(std::nan(""));
    const at::Tensor before = forward(model, config_, tokens, kTokens);
    for (const std::int64_t changed : {std::int64_t{1}, std::int64_t{9}, std::int64_t{17}, kTokens - 1}) {
      at::Tensor others = tokens.clone();
      others.select(1, changed).fill_(kSymbols - 1);
      const at::Tensor after = forward(model, config_, others, kTokens);
      EXPECT_TRUE(at::equal(before.slice(2, 0, changed), after.slice(2, 0, changed))) << changed;
      EXPECT_TRUE(at::isnan(after.slice(2, changed)).all().item<bool>()) << changed;
    }
  }
}

// Every parameter, q and k, along random directions, by central differences.
TEST_P(EveryEncoding, HasTheGradientOfItsFiniteDifferences) {
  constexpr std::int64_t kLayer = 1;
  constexpr std::int64_t kFirstQuery = 2;
  EncodingRig rig(config_.encoding, config_.model.shape(), 2);
  rig.randomise(7);
  const auto positions = create_positions(config_, 5, Purpose::kPositions, 9);
  at::Tensor q = some_numbers({2, 3, 6, 2, 8}, 1).requires_grad_(true);
  at::Tensor k = some_numbers({2, 3, 6, 2, 8}, 2).requires_grad_(true);
  const auto value = [&] {
    const at::Tensor logits = rig.logits(q, k, positions, kLayer, kFirstQuery);
    at::Tensor sum = (logits * some_numbers(logits.sizes().vec(), 3)).sum();
    const at::Tensor added = rig.embedding(6, positions);
    return added.defined() ? sum + (added * some_numbers(added.sizes().vec(), 4)).sum() : sum;
  };
  value().backward();
  std::map<std::string, at::Tensor> leaves{{"q", q}, {"k", k}};
  for (const ParameterSpec& spec : rig.parameters().specs())
    leaves.emplace(spec.name, rig.parameters()[spec.name]);
  for (auto& [name, leaf] : leaves) {
    for (std::uint64_t direction_seed = 10; direction_seed < 13; ++direction_seed) {
      const at::Tensor direction = some_numbers(leaf.sizes().vec(), direction_seed);
      constexpr double kStep = 1e-7;  // Short, for the kinks of ReLU.
      leaf.data().add_(direction, kStep);
      const double above = value().item<double>();
      leaf.data().sub_(direction, 2 * kStep);
      const double below = value().item<double>();
      leaf.data().add_(direction, kStep);
      const double expected = (above - below) / (2 * kStep);
      const double actual = leaf.grad().defined() ? (leaf.grad() * direction).sum().item<double>() : 0;
      EXPECT_NEAR(expected, actual, 1e-5 * std::max(1.0, std::abs(expected))) << name;
    }
  }
}

// Equal tokens at contiguous positions: a logit depends on key minus query alone.
TEST_P(EveryEncoding, IsInvariantToShifts) {
  if (config_.encoding.is_randomized()) return;
  // There later queries see more keys.
  if (is_causal_ && config_.encoding.attention_scale != AttentionScale::kSqrtD) return;
  EncodingRig rig(config_.encoding, config_.model.shape(), 1);
  rig.randomise(7);
  constexpr std::int64_t kTokens = 12;
  const auto everywhere = [](std::uint64_t seed) {
    return some_numbers({1, 1, 1, 2, 8}, seed).expand({1, 1, kTokens, 2, 8});
  };
  at::Tensor logits = rig.logits(everywhere(1), everywhere(2), Positions());
  if (is_causal_) logits = logits.tril();
  // Convolutions see the zeros beyond the first and the last token.
  const std::int64_t border = sees_neighbours_ || config_.encoding.name == "selective_rope" ? 3 : 0;
  const auto inner = [&](std::int64_t shift) {
    const std::int64_t first = border + shift;
    const std::int64_t count = kTokens - 1 - 2 * border;
    return logits.narrow(3, first, count).narrow(4, first, count);
  };
  EXPECT_EQ("", difference(inner(1), inner(0), 1e-9));
  const bool outside_attention =
      (config_.encoding.name == "none" && !sees_neighbours_) || rig.embedding(kTokens, Positions()).defined();
  const at::Tensor of_last_query = logits.select(3, kTokens - 1);  // It sees every key.
  EXPECT_EQ(outside_attention, at::equal(of_last_query.slice(3, 1), of_last_query.slice(3, 0, kTokens - 1)));
}

// Inside attention every layer draws its own positions, and the same ones whenever it is asked.
TEST_P(EveryEncoding, DrawsPositionsPerLayer) {
  EncodingRig rig(config_.encoding, config_.model.shape(), 1);
  rig.randomise(7);
  for (const ParameterSpec& spec : rig.parameters().specs()) {
    const std::string first = "layer0.attn.";
    if (spec.name.starts_with(first)) {
      rig.parameters()["layer1.attn." + spec.name.substr(first.size())].data().copy_(
          rig.parameters()[spec.name].data());
    }
  }
  const at::Tensor q = some_numbers({1, 1, 9, 2, 8}, 1);
  const at::Tensor k = some_numbers({1, 1, 9, 2, 8}, 2);
  const auto logits = [&](std::int64_t layer) {
    return rig.logits(q, k, create_positions(config_, 5, Purpose::kPositions, 9), layer);
  };
  const at::Tensor first = logits(0);
  EXPECT_TRUE(at::equal(first, logits(0)));
  const bool drawn = config_.encoding.is_randomized() &&
                     !rig.embedding(9, create_positions(config_, 5, Purpose::kPositions, 9)).defined();
  EXPECT_EQ(drawn, !at::equal(first, logits(1)));
}

// Losses, gradients and parameters of the first steps: large batches, small ones, and the small experiment's
// model.
TEST_P(EveryEncoding, TrainsToTheSameBitsWithOneThreadAndTwo) {
  struct Case {
    std::int64_t width, heads, batch, steps, last_length;
    Kernels kernels = Kernels::kFused;
  };
  for (const Case& one : {Case{32, 4, 128, 3, 29}, Case{16, 2, 4, 10, 24}, Case{64, 8, 32, 2, 40},
                          Case{16, 2, 8, 3, 12, Kernels::kReference}}) {
    RunConfig config = config_;
    config.execution.kernels = one.kernels;
    config.model.shape() = {.width = one.width,
                            .layers = 2,
                            .heads = one.heads,
                            .ffn_multiple = 4,
                            .block = config_.model.shape().block};
    config.training.batch_size = one.batch;
    config.training.steps = one.steps;
    config.training.first_length = one.last_length / 2;
    config.training.last_length = one.last_length;
    const auto trained = [&](std::int64_t threads) {
      const ThreadLimit limit(threads);
      TrainingState state({config});
      std::vector<double> measured;
      train(state, [&](std::span<const MeasuredStep> steps) {
        for (const auto& [step, length, seconds, result] : steps) {
          measured.insert(measured.end(), {result.loss[0], result.gradient_norm[0]});
        }
        return true;
      });
      return std::pair(measured, state.model->parameters().values().clone());
    };
    SCOPED_TRACE("width " + std::to_string(one.width) + ", batch " + std::to_string(one.batch));
    const auto [measured_by_one, parameters_of_one] = trained(1);
    const auto [measured_by_two, parameters_of_two] = trained(2);
    EXPECT_EQ(measured_by_one, measured_by_two);
    EXPECT_EQ("", difference(parameters_of_two, parameters_of_one, 0));
  }
}

// A run that a crash parted from its neighbour goes on alone.
TEST_P(EveryEncoding, TrainsToTheSameBitsAloneAndInLockStep) {
  struct Case {
    std::int64_t width, steps, last_length, threads;
    Kernels kernels;
  };
  for (const Case& one : {Case{8, 40, 6, 1, Kernels::kFused}, Case{32, 40, 6, 2, Kernels::kFused},
                          Case{16, 6, 60, 1, Kernels::kFused}, Case{16, 10, 12, 2, Kernels::kReference}}) {
    const ThreadLimit limit(one.threads);
    RunConfig config = config_;
    config.execution.kernels = one.kernels;
    config.model.shape() = {
        .width = one.width, .layers = 2, .heads = 2, .ffn_multiple = 2, .block = config_.model.shape().block};
    config.training.batch_size = 4;
    config.training.steps = one.steps;
    config.training.first_length = 1;
    config.training.last_length = one.last_length;
    std::vector<RunConfig> runs(3, config);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].seed = static_cast<std::int64_t>(i);
    const auto trained = [](const std::vector<RunConfig>& in_lock_step) {
      TrainingState state(in_lock_step);
      train(state, [](std::span<const MeasuredStep>) { return true; });
      return state.model->parameters().values().clone();
    };
    const at::Tensor together = trained(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto replica = static_cast<std::int64_t>(i);
      EXPECT_EQ("", difference(together.slice(0, replica, replica + 1), trained({runs[i]}), 0))
          << "width " << one.width << ", lengths to " << one.last_length << ", run " << i << ", "
          << kernels_name(one.kernels) << " kernels";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncoding, testing::ValuesIn(all_labels()),
                         [](const auto& label) { return label.param; });

// Nothing else notices a source that is missing in CMakeLists.txt, or that registers another name.
TEST(Encodings, AreThoseOfTheSources) {
  std::vector<std::string> headers, sources;
  for (const auto& file : std::filesystem::directory_iterator(CHE_SOURCE_DIR "/models/encodings")) {
    const std::string text = read_file(file.path());
    const std::string stem = file.path().stem().string();
    if (text.find("Registered<EncodingEntry>") != std::string::npos) headers.push_back(stem);
    if (text.find("Registered<EncodingMaker>") != std::string::npos) sources.push_back(stem);
  }
  std::ranges::sort(headers);
  std::ranges::sort(sources);
  EXPECT_EQ(headers, Registry<EncodingEntry>::instance().names());
  EXPECT_EQ(sources, Registry<EncodingMaker>::instance().names());
  EXPECT_EQ(headers, sources);
  EXPECT_GE(headers.size(), 11U);
}

TEST(Encodings, StandInThePapersOrder) {
  std::map<int, std::string> by_place;
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
    EXPECT_TRUE(by_place.emplace(entry.place, name).second) << name << " has the place of another";
  }
  for (const PaperColumn& column : paper_columns()) {
    if (column.heading != "Randomized") continue;
    const int place = static_cast<int>(&column - paper_columns().data()) + 1;
    EXPECT_EQ(column.form.name, by_place[place]);
  }
}

// Without positions, attention sees a set: permuted inputs give permuted outputs. With them, not.
TEST(Encodings, OnlyNoneIsPermutationEquivariant) {
  const at::Tensor tokens = some_tokens(1, 9);
  const at::Tensor order = at::tensor(std::vector<std::int64_t>{4, 0, 8, 2, 6, 1, 7, 3, 5}, at::kLong);
  for (const std::string& label : all_labels()) {
    const RunConfig config = small_config(label);
    if (config.model.entry().is_causal) continue;
    const auto model = initialised(config, {3});
    const at::Tensor permuted_output = forward(*model, config, tokens, 9).index_select(2, order);
    const std::string found =
        difference(forward(*model, config, tokens.index_select(1, order), 9), permuted_output, 1e-5);
    // DAPE over the logits of each key alone sees no position; over three neighbouring keys it does.
    const bool sees_neighbours = config.encoding.dape && config.encoding.dape->taps() > 1;
    EXPECT_EQ(config.encoding.name == "none" && !sees_neighbours, found.empty()) << label << " " << found;
  }
}

}  // namespace
}  // namespace che
