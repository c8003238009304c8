// The loss in parts of a batch: outputs whose logits are in memory at once, and examples of a backward pass.
#include "experiments/learn/batches.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

constexpr std::int64_t kBatch = 5;
constexpr std::int64_t kTokens = 9;
constexpr std::int64_t kOutputs = 7;
const std::vector<std::int64_t> kSeeds = {3, 4};

TensorBatch some_batch(const Model& model) {
  const auto ids = at::TensorOptions().dtype(at::kLong);
  at::Tensor targets = at::arange(kBatch * kOutputs, ids).remainder(model.classes());
  at::Tensor mask = at::arange(kBatch * kOutputs, ids).remainder(3).ne(0).to(at::kByte);
  return {some_tokens(kBatch, kTokens), targets.view({kBatch, kOutputs}), mask.view({kBatch, kOutputs})};
}

// Score and gradients of a batch, with dropout, cut so.
struct Scored {
  BatchResult made;
  at::Tensor gradients;
};

Scored scored(Model& model, std::int64_t micro_batch, std::int64_t most_logits) {
  const Positions positions;
  const Pass pass{.positions = positions, .dropout = {.rate = 0.25, .seeds = kSeeds, .first_example = 11}};
  BatchResult made = add_gradients(model, some_batch(model), pass, micro_batch, most_logits);
  model.parameters().collect_gradients();
  return {made, model.parameters().gradients().clone()};
}

class LossInParts : public testing::TestWithParam<std::string> {};

TEST_P(LossInParts, HasTheGradientsOfTheWhole) {
  const auto model = initialised(small_config(GetParam()), kSeeds);
  const Scored whole = scored(*model, 0, kMostLogits);
  const std::int64_t of_an_output = 2 * model->classes();
  // Of 35 outputs: seven parts, parts of 8 with a last one of 3, and one output each where not even one fits.
  for (const std::int64_t most : {5 * of_an_output, 8 * of_an_output + 1, std::int64_t{1}}) {
    // Of five examples: all, parts of two with a last one of one, and one each.
    for (const std::int64_t micro_batch : {0, 2, 1}) {
      const std::string cut = std::to_string(most) + " logits, micro-batch " + std::to_string(micro_batch);
      const Scored parts = scored(*model, micro_batch, most);
      EXPECT_EQ("", difference(parts.gradients, whole.gradients, 1e-5)) << cut;
      EXPECT_EQ("", difference(parts.made.score.loss, whole.made.score.loss, 1e-6)) << cut;
      EXPECT_TRUE(at::equal(parts.made.score.correct, whole.made.score.correct)) << cut;
      EXPECT_TRUE(at::equal(parts.made.counted, whole.made.counted)) << cut;
    }
  }
}

TEST_P(LossInParts, PredictsAsTheWhole) {
  const auto model = initialised(small_config(GetParam()), kSeeds);
  const Positions positions;
  const TensorBatch batch = some_batch(*model);
  const auto predicted = [&](std::int64_t most_logits) {
    return predict(*model, batch, {.positions = positions}, {.classes = true, .losses = true}, most_logits);
  };
  const BatchResult whole = predicted(kMostLogits);
  const BatchResult parts = predicted(16 * model->classes());
  EXPECT_TRUE(at::equal(parts.classes, whole.classes));
  EXPECT_EQ("", difference(parts.losses, whole.losses, 1e-6));
  EXPECT_EQ("", difference(parts.score.loss, whole.score.loss, 1e-6));
  EXPECT_EQ("", difference(whole.losses.mean({1, 2}), whole.score.loss, 1e-6));
  EXPECT_TRUE(at::equal(parts.score.correct, whole.score.correct));
  EXPECT_EQ(whole.losses.sizes(), (at::IntArrayRef{2, kBatch, kOutputs}));
  const BatchResult without = predict(*model, batch, {.positions = positions});
  EXPECT_TRUE(at::equal(without.score.loss, whole.score.loss));
  EXPECT_TRUE(at::equal(without.score.correct, whole.score.correct));
}

INSTANTIATE_TEST_SUITE_P(Models, LossInParts,
                         testing::Values("pre_norm_decoder_fire", "decoder_dape_kerple", "randomized_rope"),
                         [](const auto& label) { return label.param; });

// What grows with batch and vocabulary together are logits, and they are bounded.
TEST(LossInParts, TakesNoMemoryForAllLogits) {
  constexpr std::int64_t kClasses = 30'000;
  constexpr std::int64_t kMost = 8 * kClasses;
  const ModelShape narrow{.width = 4, .layers = 1, .heads = 2, .ffn_multiple = 1, .causal = true};
  Encoder model({narrow, {3, kClasses}, create_encoding("rope")}, 1,
                {Kernels::kFused, at::TensorOptions().dtype(at::kFloat)});
  model.parameters().initialise(std::vector<std::int64_t>{3});
  const Positions positions;
  const auto bytes = [&](std::int64_t examples) {
    const at::Tensor targets = at::zeros({examples, kTokens}, at::TensorOptions().dtype(at::kLong));
    const TensorBatch batch{some_tokens(examples, kTokens), targets, at::ones_like(targets).to(at::kByte)};
    const auto work = [&] {
      add_gradients(model, batch, {.positions = positions, .dropout = {.seeds = {3}}}, 0, kMost);
    };
    work();  // The gradients of the parameters stay.
    return static_cast<double>(peak_tensor_bytes(work));
  };
  const double few = bytes(4);
  const double of_all = 32 * kTokens * kClasses * sizeof(float);
  EXPECT_LT(bytes(32) - few, of_all / 50);
  EXPECT_LT(few, 6 * kMost * sizeof(float));
}

}  // namespace
}  // namespace che
