// What every registered encoding must do, plain, over randomized positions and wrapped by DAPE.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "experiments/config.h"
#include "experiments/model_of_run.h"
#include "models/encodings/encoding.h"
#include "models/loss.h"
#include "tests/models/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

const std::vector<std::string> kDapeVariants{
    "concat_residual", "concat", "add_residual", "add", "bias_only", "bias_only_residual"};

// Every encoding, randomized where it reads positions, and DAPE around those with a bias.
std::vector<std::string> all_labels() {
  std::vector<std::string> labels;
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
    labels.push_back(name);
    if (entry.reads_positions) labels.push_back("randomized_" + name);
    if (entry.gives_bias) {
      labels.push_back("dape_" + name);
      labels.push_back("randomized_dape_" + name);
      labels.push_back("dape_v2_" + name);
    }
  }
  return labels;
}

// A label of all_labels(): a shorthand, or one with dape_v2_ for DAPE V2.
RunConfig small_config(std::string label) {
  RunConfig config;
  config.task.reset("reverse_string");
  const bool v2 = label.starts_with("dape_v2_");
  if (v2) label.erase(5, 3);
  config.encoding.reset(label);
  if (v2) config.encoding.dape->kernel = "1x3";
  config.model = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.encoding.max_position = 256;
  if (config.encoding.dape) config.encoding.dape->hidden = 8;
  return config;
}

std::unique_ptr<Transformer> initialised(const RunConfig& config, const std::vector<std::int64_t>& seeds) {
  auto model = create_transformer(config, static_cast<std::int64_t>(seeds.size()));
  model->parameters().initialise(seeds);
  // What an encoding starts from a constant (CoPE's tables from zero) would have no say otherwise.
  for (const ParameterSpec& own : create_encoding(config.encoding)->layer_parameters(config.model)) {
    if (own.init.kind != Init::Kind::kConstant) continue;
    for (std::int64_t layer = 0; layer < config.model.layers; ++layer) {
      const std::string name = "layer" + std::to_string(layer) + ".attn." + own.name;
      for (std::size_t r = 0; r < seeds.size(); ++r) {
        const at::Tensor value = model->parameters()[name].data()[static_cast<std::int64_t>(r)];
        value.add_(some_numbers(own.shape, keyed_seed(static_cast<std::uint64_t>(seeds[r]), name)), 0.2);
      }
    }
  }
  model->project();
  return model;
}

at::Tensor some_tokens(std::int64_t batch, std::int64_t length) {
  return at::arange(batch * length).mul(7).remainder(11).remainder(3).view({batch, length});
}

at::Tensor forward(const Transformer& model, const RunConfig& config, const at::Tensor& tokens,
                   std::int64_t outputs) {
  const auto positions = create_positions(config, 5, Purpose::kPositions, 9);
  return model.forward(tokens, outputs, *positions, {});
}

class EveryEncoding : public testing::TestWithParam<std::string> {
 protected:
  RunConfig config_ = small_config(GetParam());
};

TEST_P(EveryEncoding, GivesFiniteGradientsToEveryParameter) {
  const auto model = initialised(config_, {3});
  const at::Tensor logits = forward(*model, config_, some_tokens(4, 9), 4);
  ASSERT_EQ((std::vector<std::int64_t>{1, 4, 4, 2}), logits.sizes().vec());
  score_batch(logits, at::ones({4, 4}, at::kLong), at::ones({4, 4}, at::kByte)).loss.sum().backward();
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

// Forward passes of fused attention while it lives.
class FusedAttentionCount {
 public:
  FusedAttentionCount() {
    count_ = 0;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&begin));
  }
  ~FusedAttentionCount() { at::removeCallback(handle_); }
  FusedAttentionCount(const FusedAttentionCount&) = delete;
  FusedAttentionCount& operator=(const FusedAttentionCount&) = delete;

  std::int64_t value() const { return count_; }

 private:
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (std::string_view(function.name()) == "che::attention") ++count_;
    return nullptr;
  }

  static thread_local std::int64_t count_;
  at::CallbackHandle handle_;
};

thread_local std::int64_t FusedAttentionCount::count_ = 0;

// The model as a whole, dropout included: value and gradient of every parameter.
void expect_fused_equals_reference(RunConfig config, bool fuses_attention) {
  const at::Tensor tokens = some_tokens(4, 9);
  const Dropout dropout{0.1, {3, 4}, Purpose::kDropout, 2, 0};
  const FusedAttentionCount count;
  const auto outcome = [&](const std::string& kernels) {
    config.execution.kernels = kernels;
    auto model = initialised(config, {3, 4});
    const auto positions = create_positions(config, 5, Purpose::kPositions, 9);
    const at::Tensor logits = model->forward(tokens, 4, *positions, dropout);
    EXPECT_EQ(kernels == "fused" && fuses_attention, count.value() > 0);
    score_batch(logits, at::ones({4, 4}, at::kLong), at::ones({4, 4}, at::kByte)).loss.sum().backward();
    return std::pair(logits.detach(), std::move(model));
  };
  const auto [logits, reference] = outcome("reference");
  const auto [fused_logits, fused] = outcome("fused");
  EXPECT_EQ("", difference(fused_logits, logits, 1e-5));
  for (const ParameterSpec& spec : reference->parameters().specs()) {
    EXPECT_EQ("", difference(fused->parameters()[spec.name].grad(), reference->parameters()[spec.name].grad(),
                             1e-5))
        << spec.name;
  }
}

TEST_P(EveryEncoding, FusedKernelsEqualTheReference) {
  const bool composed = config_.encoding.name == "cope" || config_.encoding.name == "relative" ||
                        GetParam().starts_with("dape_v2_");
  // A rotation counts, too.
  expect_fused_equals_reference(config_, !composed);
}

TEST(Dape, FusedVariantsEqualTheReference) {
  for (const std::string& variant : kDapeVariants) {
    for (const char* label : {"dape_kerple", "randomized_dape_alibi", "dape_fire"}) {
      SCOPED_TRACE(variant + " of " + label);
      RunConfig config = small_config(label);
      config.encoding.dape->variant = variant;
      expect_fused_equals_reference(config, true);
    }
  }
}

// Every parameter, q and k, along random directions, by central differences.
TEST_P(EveryEncoding, HasTheGradientOfItsFiniteDifferences) {
  constexpr std::int64_t kLayer = 1;
  constexpr std::int64_t kFirstQuery = 2;
  EncodingRig rig(config_.encoding, config_.model, 2);
  rig.randomise(7);
  const auto positions = create_positions(config_, 5, Purpose::kPositions, 9);
  at::Tensor q = some_numbers({2, 3, 6, 2, 8}, 1).requires_grad_(true);
  at::Tensor k = some_numbers({2, 3, 6, 2, 8}, 2).requires_grad_(true);
  const auto value = [&] {
    const at::Tensor logits = rig.logits(q, k, *positions, kLayer, kFirstQuery);
    at::Tensor sum = (logits * some_numbers(logits.sizes().vec(), 3)).sum();
    const at::Tensor added = rig.embedding(6, *positions);
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
  if (config_.encoding.positions != "contiguous") return;
  EncodingRig rig(config_.encoding, config_.model, 1);
  rig.randomise(7);
  constexpr std::int64_t kTokens = 12;
  const auto everywhere = [](std::uint64_t seed) {
    return some_numbers({1, 1, 1, 2, 8}, seed).expand({1, 1, kTokens, 2, 8});
  };
  const at::Tensor logits = rig.logits(everywhere(1), everywhere(2), ContiguousPositions());
  // DAPE V2's two convolutions see the zeros beyond the first and the last key.
  const std::int64_t border = config_.encoding.dape && config_.encoding.dape->taps() > 1 ? 2 : 0;
  EXPECT_EQ("", difference(logits.slice(3, 1).slice(4, 1 + border, kTokens - border),
                           logits.slice(3, 0, kTokens - 1).slice(4, border, kTokens - 1 - border), 1e-9));
  const bool outside_attention =
      GetParam() == "none" || rig.embedding(kTokens, ContiguousPositions()).defined();
  EXPECT_EQ(outside_attention, at::equal(logits.slice(4, 1), logits.slice(4, 0, kTokens - 1)));
}

// Inside attention every layer draws its own positions, and the same ones whenever it is asked.
TEST_P(EveryEncoding, DrawsPositionsPerLayer) {
  EncodingRig rig(config_.encoding, config_.model, 1);
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
    return rig.logits(q, k, *create_positions(config_, 5, Purpose::kPositions, 9), layer);
  };
  const at::Tensor first = logits(0);
  EXPECT_TRUE(at::equal(first, logits(0)));
  const bool drawn = config_.encoding.positions == "randomized" &&
                     !rig.embedding(9, *create_positions(config_, 5, Purpose::kPositions, 9)).defined();
  EXPECT_EQ(drawn, !at::equal(first, logits(1)));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncoding, testing::ValuesIn(all_labels()),
                         [](const auto& label) { return label.param; });

TEST(Encodings, AreTheOnesReadmeLists) {
  EXPECT_EQ((std::vector<std::string>{"alibi", "cope", "fire", "kerple", "learned", "none", "relative",
                                      "rope", "sandwich", "sin_cos", "t5"}),
            Registry<EncodingEntry>::instance().names());
}

TEST(Encodings, DapeNeedsABias) { EXPECT_THROW(create_encoding("rope", {}, DapeOptions{}), Error); }

// With f's output layer zero, f vanishes: the residual variants are the base, the others no bias.
TEST(Dape, WithoutItsMlpIsTheBaseOrNothing) {
  // (FIRE has another MLP inside DAPE.)
  for (const std::string base : {"alibi", "kerple", "t5"}) {
    for (const std::string& variant : kDapeVariants) {
      SCOPED_TRACE(base + " " + variant);
      RunConfig config = small_config("dape_" + base);
      config.encoding.dape->variant = variant;
      const auto wrapped = initialised(config, {3});
      const at::Tensor tokens = some_tokens(2, 9);
      for (const char* layer : {"layer0.attn.dape.", "layer1.attn.dape."}) {
        for (const char* name : {"w2", "b2"}) wrapped->parameters()[std::string(layer) + name].data().zero_();
      }
      const bool residual = variant.ends_with("_residual");
      const RunConfig plain_config = small_config(residual ? base : "none");
      const at::Tensor expected = forward(*initialised(plain_config, {3}), plain_config, tokens, 4);
      EXPECT_EQ("", difference(forward(*wrapped, config, tokens, 4), expected, 1e-6));
    }
  }
}

// FIRE divides by the position beyond its threshold, and there shifts matter.
TEST(Fire, IsNotInvariantToShiftsBeyondItsThreshold) {
  EncodingConfig config;
  config.reset("fire");
  config.options["fire_length"] = "3";
  EncodingRig rig(config, {.width = 16, .layers = 1, .heads = 2, .ffn_multiple = 2}, 1);
  rig.randomise(7);
  const at::Tensor zero = at::zeros({1, 1, 12, 2, 8}, at::kDouble);
  const at::Tensor logits = rig.logits(zero, zero, ContiguousPositions());
  EXPECT_NE("", difference(logits.slice(3, 1).slice(4, 1), logits.slice(3, 0, 11).slice(4, 0, 11), 1e-6));
}

std::string check_message(const std::string& encoding, const OptionValues& options,
                          std::int64_t max_position) {
  RunConfig config = small_config(encoding);
  config.encoding.options = options;
  config.encoding.max_position = max_position;
  config.evaluation.last_length = 500;
  try {
    config.check();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Learned, NeedsARowForEveryPosition) {
  EXPECT_EQ("", check_message("learned", {{"rows", "1000"}}, 7));
  EXPECT_EQ(
      "encoding.rows: learned has rows for 999 positions and the longest sequence has 1000 tokens; raise "
      "rows to 1000 or lower evaluation.last_length",
      check_message("learned", {{"rows", "999"}}, 4096));
  EXPECT_EQ("", check_message("randomized_learned", {{"rows", "2048"}}, 2048));
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
  config.encoding.options = {{"rows", "1000"}};
  EXPECT_NE(id, run_id(config));
}

TEST(Relative, NeedsAnEvenWidth) {
  RunConfig config = small_config("relative");
  config.model = {.width = 15, .layers = 2, .heads = 3, .ffn_multiple = 2};
  EXPECT_THROW(config.check(), Error);
}

// Without positions, attention sees a set: permuted inputs give permuted outputs. With them, not.
TEST(Encodings, OnlyNoneIsPermutationEquivariant) {
  const at::Tensor tokens = some_tokens(1, 9);
  const at::Tensor order = at::tensor(std::vector<std::int64_t>{4, 0, 8, 2, 6, 1, 7, 3, 5}, at::kLong);
  for (const std::string& label : all_labels()) {
    const RunConfig config = small_config(label);
    const auto model = initialised(config, {3});
    const at::Tensor permuted_output = forward(*model, config, tokens, 9).index_select(2, order);
    const std::string found =
        difference(forward(*model, config, tokens.index_select(1, order), 9), permuted_output, 1e-5);
    EXPECT_EQ(label == "none", found.empty()) << label << " " << found;
  }
}

}  // namespace
}  // namespace che
