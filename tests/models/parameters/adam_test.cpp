#include "models/parameters/adam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <limits>

#include "experiments/learn/training.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

// More values than the fused update takes at once, and no multiple of a vector.
constexpr std::int64_t kSize = 140'003;

struct Updated {
  at::Tensor values, first, second, norms;
};

Updated after_three_updates(Kernels kernels, const at::TensorOptions& options) {
  ParameterSet parameters({{"w", {kSize}, Init::normal(1)}}, 2, options);
  parameters.initialise(std::vector<std::int64_t>{1, 2});
  Adam adam(parameters, {1e-2, 3e-2}, {.clip_norm = 1}, {kernels, parameters.values().options()});
  Updated updated;
  for (std::int64_t step = 0; step < 3; ++step) {
    // The first replica's gradient is clipped, the second's is not.
    const at::Tensor gradient = some_numbers({2, kSize}, static_cast<std::uint64_t>(step)).to(options);
    parameters.gradients().copy_(gradient * at::tensor({1.0, 1e-3}).to(options).unsqueeze(1));
    updated.norms = adam.update(parameters, step);
  }
  updated.values = parameters.values();
  updated.first = adam.first_moment;
  updated.second = adam.second_moment;
  return updated;
}

TEST(Adam, FusedEqualsReference) {
  const Updated fused = after_three_updates(Kernels::kFused, at::kFloat);
  const Updated reference = after_three_updates(Kernels::kReference, at::kDouble);
  EXPECT_GT(reference.norms[0].item<double>(), 1.0);
  EXPECT_LT(reference.norms[1].item<double>(), 1.0);
  EXPECT_EQ("", difference(fused.norms / reference.norms, at::ones({2}), 1e-6));
  EXPECT_EQ("", difference(fused.values, reference.values, 1e-6));
  // Relative, where a moment is not next to nothing.
  const auto ratio = [](const at::Tensor& one, const at::Tensor& other) {
    const at::Tensor clear = other.abs() > 1e-3 * other.abs().amax(1, /*keepdim=*/true);
    return (one.to(at::kDouble) / other).masked_select(clear);
  };
  const at::Tensor first = ratio(fused.first, reference.first);
  EXPECT_GT(first.numel(), kSize);
  EXPECT_EQ("", difference(first, at::ones_like(first), 1e-4));
  const at::Tensor second = ratio(fused.second, reference.second);
  EXPECT_GT(second.numel(), kSize);
  EXPECT_EQ("", difference(second, at::ones_like(second), 2e-6));
}

// A sum of so many squares in single precision loses more than rounding does.
TEST(Adam, TheReferenceSumsSquaresInDouble) {
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  ParameterSet parameters({{"w", {kMany}, Init::constant(0)}}, 1, at::kFloat);
  Adam adam(parameters, {1e-3}, {.clip_norm = 1}, {Kernels::kReference, parameters.values().options()});
  parameters.gradients().fill_(0.1);
  EXPECT_NEAR(1, adam.update(parameters, 0)[0].item<double>() / (0.1 * 2048), 1e-6);
}

TEST(Adam, ThreadsChangeNothing) {
  std::vector<Updated> updated;
  for (const std::size_t threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    updated.push_back(after_three_updates(Kernels::kFused, at::kFloat));
  }
  EXPECT_TRUE(at::equal(updated[0].values, updated[1].values));
  EXPECT_TRUE(at::equal(updated[0].norms, updated[1].norms));
}

// A quarter is exact in every type.
TEST(Adam, AFractionOfTheRateIsASmallerRate) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const auto updated = [&](double rate, double fraction) {
      ParameterSet parameters({{"w", {5}, Init::constant(0.5)}}, 1, at::kFloat);
      Adam adam(parameters, {rate}, {.clip_norm = 1}, {kernels, parameters.values().options()});
      parameters.gradients().fill_(0.25);
      adam.update(parameters, 0, fraction);
      return parameters.values().clone();
    };
    EXPECT_TRUE(at::equal(updated(1e-2, 0.25), updated(0.25e-2, 1)));
    EXPECT_FALSE(at::equal(updated(1e-2, 0.25), updated(1e-2, 1)));
  }
}

// Twenty steps of torch.optim.AdamW with two groups, clipped gradients, warm-up and cosine, as
// tests/reference/adamw.py prints them.
TEST(Adam, WithDecayEqualsTorch) {
  constexpr double kRate = 0.02;
  constexpr std::int64_t kSteps = 20;
  const TrainingConfig training{.steps = kSteps, .warmup_steps = 4, .schedule = RateSchedule::kCosine};
  const at::Tensor expected = at::tensor(
      {1.184286906474, -2.1628718381, 0.276655193689, 2.793904965489, -0.058165980219}, at::kDouble);
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const auto type = kernels == Kernels::kFused ? at::kFloat : at::kDouble;
    ParameterSet parameters({{"w", {3}, Init::constant(0)}, {"ffn.b1", {2}, Init::constant(0)}}, 1, type);
    parameters.values().copy_(at::tensor({1.0, -2.0, 0.5, 3.0, -0.25}, at::kDouble).unsqueeze(0));
    Adam adam(parameters, {kRate}, {.clip_norm = 1, .beta2 = 0.95, .weight_decay = 0.1},
              {kernels, parameters.values().options()});
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const at::Tensor weight = parameters["w"].detach()[0];
      const at::Tensor bias = parameters["ffn.b1"].detach()[0];
      const at::Tensor slope = (weight * bias[0]).cos() / 2;
      at::Tensor of_weight = slope * bias[0];
      of_weight[2] += static_cast<double>(step + 1) * weight[2];
      at::Tensor of_bias = bias.clone();
      of_bias[0] += (slope * weight).sum();
      parameters.gradients().copy_(at::cat({of_weight, of_bias}).unsqueeze(0));
      adam.update(parameters, step, rate_fraction(training, step));
    }
    const at::Tensor found = parameters.values()[0].to(at::kDouble);
    EXPECT_EQ("", difference(found, expected, kernels == Kernels::kFused ? 2e-5 : 1e-6));
  }
}

// The parameters that models and encodings have, as encoder.cpp, recurrent.cpp, dape.cpp and fire.cpp name
// them.
TEST(Adam, LayerNormsAndBiasesDoNotDecay) {
  for (const char* name :
       {"layer0.ln1.scale", "layer11.ln2.offset", "layer0.ffn.b1", "layer0.ffn.b2", "out.b",
        "layer0.attn.dape.b1", "layer0.attn.fire.b2", "ln_f.scale", "layer0.attn.bq"}) {
    EXPECT_FALSE(decays(name)) << name;
  }
  for (const char* name :
       {"embed.w", "layer0.attn.wq", "layer0.ffn.w1", "out.w", "layer0.attn.p", "layer0.attn.a",
        "layer0.attn.c", "layer0.attn.L_multiplier", "layer0.attn.table", "layer0.attn.dape.w1",
        "layer0.attn.u", "layer0.attn.e_left", "pos.table", "layer0.attn.scale"}) {
    EXPECT_TRUE(decays(name)) << name;
  }
}

TEST(Adam, AGradientThatIsNoNumberShows) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    ParameterSet parameters({{"w", {5}, Init::normal(1)}}, 1, at::kFloat);
    Adam adam(parameters, {1e-2}, {.clip_norm = 1}, {kernels, parameters.values().options()});
    parameters.gradients().fill_(1);
    parameters.gradients()[0][3] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(at::isnan(adam.update(parameters, 0)).all().item<bool>());
    EXPECT_TRUE(at::isnan(parameters.values()).all().item<bool>());
  }
}

}  // namespace
}  // namespace che
