// What every registered encoding must do, plain, over randomized positions and wrapped by DAPE.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "experiments/config.h"
#include "experiments/model_of_run.h"
#include "models/encodings/encoding.h"
#include "models/loss.h"
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
    }
  }
  return labels;
}

RunConfig small_config(const std::string& label) {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding.reset(label);
  config.model = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.encoding.max_position = 256;
  if (config.encoding.dape) config.encoding.dape->hidden = 8;
  return config;
}

std::unique_ptr<Transformer> initialised(const RunConfig& config, const std::vector<std::int64_t>& seeds) {
  auto model = create_transformer(config, static_cast<std::int64_t>(seeds.size()));
  model->parameters().initialise(seeds);
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

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncoding, testing::ValuesIn(all_labels()),
                         [](const auto& label) { return label.param; });

TEST(Encodings, AreTheOnesReadmeLists) {
  EXPECT_EQ((std::vector<std::string>{"alibi", "kerple", "none", "rope", "sin_cos"}),
            Registry<EncodingEntry>::instance().names());
}

TEST(Encodings, DapeNeedsABias) { EXPECT_THROW(create_encoding("rope", {}, DapeOptions{}), Error); }

// With f's output layer zero, f vanishes: the residual variants are the base, the others no bias.
TEST(Dape, WithoutItsMlpIsTheBaseOrNothing) {
  for (const std::string base : {"alibi", "kerple"}) {
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
